"""Hunt for the planted bugs and for changes at random, and tell as it goes."""

import time

import click

from irkit.debug import console
from irkit.fuzz.bugs import CATALOGUE
from irkit.fuzz.hunting.hunter import Game, Result, hunting_score, hunting_table, hunts
from irkit.fuzz.mutants import mutants
from irkit.fuzz.quarry import Hunt

AT_RANDOM = 60
"""Changes made at random besides the catalogue."""
MOST_SECONDS = 900.0
"""Time for one change."""


def hunt_changes(hunt: Hunt, *, jobs: int = 1, seconds: float | None = None) -> int:
    """Hunt for all changes, print what came of each, and return an exit code: 1 if a planted bug
    was not found or the wrong pass was named. Units: ``seconds`` after which no hunt begins.

    A change at random that is not found may be equivalent, so it does not count.
    """
    games: list[Game] = [*CATALOGUE, *mutants(hunt.seed, AT_RANDOM)]
    started = time.monotonic()
    results: list[Result] = []
    for result in hunts(games, hunt, jobs=jobs, seconds=MOST_SECONDS):
        results.append(result)
        found = f"found in case {result.caught.number + 1}" if result.caught.found else "not found"
        click.echo(f"{len(results)} of {len(games)}: {result.name}: {found}", err=True)
        if seconds is not None and time.monotonic() - started > seconds:
            click.echo("stopped: the time is over", err=True)
            break
    console().print(hunting_table(results))
    planted = [result for result in results if result.is_planted]
    click.echo(f"planted: {hunting_score(planted)}")
    if len(planted) < len(results):
        rest = [result for result in results if not result.is_planted]
        click.echo(f"at random: {hunting_score(rest)}")
    click.echo(f"{time.monotonic() - started:.1f} s")
    return 0 if all(result.caught.found and result.right for result in planted) else 1
