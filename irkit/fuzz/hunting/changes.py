"""Hunt for the planted bugs and for changes at random, and tell as it goes."""

import random
import time

import click

from irkit.debug import console
from irkit.fuzz.bugs import CATALOGUE, HUNTED_ONLY
from irkit.fuzz.hunting.hunter import Game, Result, hunting_score, hunting_table, hunts
from irkit.fuzz.hunting.places import FAMILIES
from irkit.fuzz.mutants import mutants_by_turns
from irkit.fuzz.quarry import Hunt

AT_RANDOM = 120
"""Changes made at random besides the catalogue: as many of each kind of work."""
MOST_SECONDS, LEAST_SECONDS = 900.0, 60.0
"""Time to draw cases for one change: less where there is a time for all."""


def games_of(seed: int) -> list[Game]:
    """List all changes in an order drawn by ``seed``, so that a hunt that is cut off is a sample of
    them."""
    at_random = mutants_by_turns(seed, AT_RANDOM, list(FAMILIES.values()))
    games = [*CATALOGUE, *HUNTED_ONLY, *at_random]
    random.Random(seed).shuffle(games)
    return games


def hunt_changes(hunt: Hunt, *, jobs: int = 1, seconds: float | None = None) -> int:
    """Hunt for all changes, print what came of each, and return an exit code: 1 if a planted bug
    was not found or the wrong pass was named, 2 if there was time for none.

    Units: ``seconds`` in which all is done; what there was no time for does not count.

    Nor does a change at random that is not found: it may be equivalent, and what is known of that
    is said.
    """
    started = time.monotonic()
    end = started + seconds if seconds is not None else float("inf")
    games, results = games_of(hunt.seed), list[Result]()
    share = (end - started) * jobs / len(games)
    each = min(MOST_SECONDS, max(LEAST_SECONDS, share))
    for result in hunts(games, hunt, jobs=jobs, seconds=each, end=end):
        if result.caught.cut and time.monotonic() >= end - 1:
            continue
        results.append(result)
        caught = result.caught
        found = f"found in case {caught.number + 1}" if caught.found else "not found"
        click.echo(f"{len(results)} of {len(games)}: {result.name}: {found}", err=True)
    if len(results) < len(games):
        click.echo("stopped: the time is over", err=True)
    if not results:
        click.echo("error: nothing was tested: the time was too short for one change", err=True)
        return 2
    console().print(hunting_table(results))
    planted = [result for result in results if result.is_planted]
    click.echo(f"planted: {hunting_score(planted)}")
    rest = [result for result in results if not result.is_planted]
    if rest:
        click.echo(f"at random: {hunting_score(rest)}")
    click.echo(f"{time.monotonic() - started:.1f} s")
    return 0 if all(result.caught.found and result.right for result in planted) else 1
