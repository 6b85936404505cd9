"""``python -m tests.mutation``: break irkit's own passes, and report whether the checks notice."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click

from irkit.cli.flags.durations import Duration
from irkit.cli.flags.files import FILE, NEW_FILE
from irkit.core import console
from tests.mutation.changes.catalogue import CATALOGUE
from tests.mutation.changes.mutant import Mutant, mutants
from tests.mutation.changes.sample import find_mutant, read_sample, save_sample
from tests.mutation.runs.check_runs import (
    RANDOM_PROGRAMS,
    mutant_results,
    mutant_score,
    mutant_table,
    seeded_bug_results,
    seeded_bug_score,
    seeded_bug_table,
)

_T = TypeVar("_T")
REQUIRED_SHARE = 0.95


@click.command()
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
@click.option("--sample", type=FILE, help="Try the random changes of a file, and none drawn.")
@click.option(
    "--save-sample", "saved", type=NEW_FILE, help="Write the random changes to this file."
)
@click.option(
    "--jobs",
    default=1,
    type=click.IntRange(1, 64),
    show_default=True,
    help="How many changes to try at a time.",
)
@click.option(
    "--time", "seconds", default="10m", type=Duration(), help="Begin nothing after this time."
)
def mutate(
    seeded: bool,
    only: str,
    bisect: bool,
    count: int,
    seed: int,
    sample: str | None,
    saved: str | None,
    jobs: int,
    seconds: float,
) -> None:
    """Break irkit's own passes, one change at a time, and report whether the checks notice.

    No file is changed. The exit code is 1 if a seeded bug is not found or the wrong pass is
    named, or if fewer than 95 % of the random changes that change any meaning are found.

    \b
      python -m tests.mutation
      python -m tests.mutation --no-seeded --mutants 200 --seed 7
    """
    started, good = time.monotonic(), True
    if sample is not None and count:
        raise click.UsageError("--sample and --mutants exclude each other")
    if seeded:
        good = _try_seeded(only, bisect, jobs, started + seconds)
    chosen = list(mutants(seed, count)) if sample is None else _sampled(sample)
    if saved is not None:
        save_sample(saved, chosen)
    if chosen:
        good = _try_mutants(chosen, jobs, started + seconds) and good
    click.echo(f"{time.monotonic() - started:.1f} s")
    sys.exit(0 if good else 1)


def _try_seeded(only: str, bisect: bool, jobs: int, end: float) -> bool:
    bugs = [bug for bug in CATALOGUE if only in bug.name]
    if not bugs:
        raise click.BadParameter(f"no seeded bug has a name with {only!r}")
    programs = 0 if only else RANDOM_PROGRAMS
    found = seeded_bug_results(bugs, jobs=jobs, programs=programs, bisected=bisect)
    results = list(_until(found, end))
    console().print(seeded_bug_table(results))
    click.echo(seeded_bug_score(results))
    return all(result.right for result in results)


def _try_mutants(chosen: list[Mutant], jobs: int, end: float) -> bool:
    verdicts = list(_until(mutant_results(chosen, jobs=jobs), end))
    console().print(mutant_table(verdicts))
    click.echo(mutant_score(verdicts))
    seen = sum(verdict.status == "found" for verdict in verdicts)
    missed = sum(verdict.status == "missed" for verdict in verdicts)
    return seen >= REQUIRED_SHARE * (seen + missed)


def _sampled(path: str) -> list[Mutant]:
    """Find the mutants of a file, and report those that are gone."""
    names = read_sample(path)
    found = [(name, find_mutant(name)) for name in names]
    gone = [name for name, mutant in found if mutant is None]
    for name in gone:
        click.echo(f"gone: {name.module}:{name.definition}: {name.what}", err=True)
    click.echo(f"sample: {len(names) - len(gone)} of {len(names)} are here, {len(gone)} gone")
    return [mutant for _, mutant in found if mutant is not None]


def _until(results: Iterable[_T], end: float) -> Iterator[_T]:
    for result in results:
        yield result
        if time.monotonic() > end:
            click.echo("stopped: the time is over", err=True)
            return


if __name__ == "__main__":
    mutate()
