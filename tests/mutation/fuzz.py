"""``python -m tests.mutation.fuzz``: break irkit, and report how soon the fuzzer finds each
change."""

import sys
from functools import partial

import click

from irkit.cli.flags.durations import Duration
from irkit.fuzz.generators import KINDS, Kind
from tests.mutation.runs.all_changes import fuzz_all_changes
from tests.mutation.trials.messages import FuzzOrder


@click.command()
@click.option("--time", "seconds", type=Duration(), help="End after this time.  [default: never]")
@click.option(
    "--cases",
    default=FuzzOrder().count,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw at most N cases for each change.",
)
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="How many changes to try at a time.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="What to draw. Repeatable.  [default: all]",
)
def fuzz_mutants(
    seconds: float | None, cases: int, jobs: int, seed: int, kinds: tuple[Kind, ...]
) -> None:
    """Break irkit's own source in a child process, one change at a time, and report after how many
    cases the fuzzer finds each.

    The exit code is 1 if a seeded bug was not found or the wrong pass was named, and 2 if there was
    time for none.

    \b
      python -m tests.mutation.fuzz --time 10m --jobs 2
    """
    code = fuzz_all_changes(
        FuzzOrder(seed=seed, count=cases, kinds=tuple(dict.fromkeys(kinds)) or KINDS),
        report=click.echo,
        progress=partial(click.echo, err=True),
        jobs=jobs,
        seconds=seconds,
    )
    sys.exit(code)


if __name__ == "__main__":
    fuzz_mutants()
