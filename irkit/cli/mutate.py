"""The verb mutate of the ``irkit`` command."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click

from irkit.debug import console
from irkit.fuzz.mutation.mutants import mutants
from irkit.fuzz.mutation.runner import (
    RANDOM_PROGRAMS,
    mutant_results,
    mutant_score,
    mutant_table,
    seeded_bug_results,
    seeded_bug_score,
    seeded_bug_table,
)
from irkit.fuzz.mutation.seeded_bugs import CATALOGUE

_T = TypeVar("_T")
REQUIRED_SHARE = 0.95


@click.command("mutate")
@click.option(
    "--seeded/--no-seeded",
    default=True,
    show_default=True,
    help="Run the catalogue of seeded bugs.",
)
@click.option(
    "--only", default="", metavar="WORDS", help="Only seeded bugs whose names contain these words."
)
@click.option("--bisect/--no-bisect", help="Look for the rewrite at fault of each seeded bug too.")
@click.option("--mutants", "count", default=0, metavar="N", help="How many random changes to try.")
@click.option("--seed", default=0, show_default=True, help="Seed of the random changes.")
@click.option(
    "--jobs",
    default=1,
    type=click.IntRange(1, 64),
    show_default=True,
    help="How many changes to try at a time.",
)
@click.option("--seconds", default=600.0, show_default=True, help="Begin nothing after this time.")
def mutate(
    seeded: bool, only: str, bisect: bool, count: int, seed: int, jobs: int, seconds: float
) -> None:
    """Break irkit's own passes, one change at a time, and report whether the checks notice.

    No file is changed. The exit code is 1 if a seeded bug is not found or the wrong pass is
    named, or if fewer than 95 % of the random changes that change any meaning are found.

    \b
      irkit mutate
      irkit mutate --no-seeded --mutants 200 --seed 7
    """
    started, good = time.monotonic(), True
    if seeded:
        bugs = [bug for bug in CATALOGUE if only in bug.name]
        if not bugs:
            raise click.BadParameter(f"no seeded bug has a name with {only!r}")
        programs = 0 if only else RANDOM_PROGRAMS
        found = seeded_bug_results(bugs, jobs=jobs, programs=programs, bisected=bisect)
        results = list(_until(found, started + seconds))
        console().print(seeded_bug_table(results))
        click.echo(seeded_bug_score(results))
        good = all(result.right for result in results)
    if count:
        chosen = list(mutants(seed, count))
        verdicts = list(_until(mutant_results(chosen, jobs=jobs), started + seconds))
        console().print(mutant_table(verdicts))
        click.echo(mutant_score(verdicts))
        seen = sum(verdict.status == "found" for verdict in verdicts)
        missed = sum(verdict.status == "missed" for verdict in verdicts)
        good = good and seen >= REQUIRED_SHARE * (seen + missed)
    click.echo(f"{time.monotonic() - started:.1f} s")
    sys.exit(0 if good else 1)


def _until(results: Iterable[_T], end: float) -> Iterator[_T]:
    for result in results:
        yield result
        if time.monotonic() > end:
            click.echo("stopped: the time is over", err=True)
            return
