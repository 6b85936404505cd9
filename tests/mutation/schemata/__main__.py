"""``python -m tests.mutation.schemata``: which random changes of irkit fuzzing finds."""

import sys
import time
from functools import partial
from pathlib import Path

import click

from irkit.cli.flags.durations import Duration
from irkit.cli.flags.files import FILE, NEW_FILE
from tests.mutation.changes.sample import find_mutant, read_sample, save_sample
from tests.mutation.schemata.campaign import Campaign
from tests.mutation.schemata.families import draw_sample, last_code_commit, number_of
from tests.mutation.schemata.proofs import prove_rest
from tests.mutation.schemata.report import json_report, text_report

REQUIRED_SHARE = 0.85
_SHARE_OF_CASES = 0.85
"""The share of the time in which cases are judged for all mutants; the rest is for those that only
an import switches on."""


@click.command()
@click.option("--seed", default="", help="Draws the sample.  [default: the last commit of irkit]")
@click.option("--mutants", "count", default=160, show_default=True, type=click.IntRange(min=1))
@click.option("--cases", default=10_000, show_default=True, type=click.IntRange(min=1))
@click.option("--first", default=0, metavar="N", help="Begin with this case, to go on with a run.")
@click.option("--time", "seconds", default="1h", type=Duration(), help="Begin nothing after this.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 64))
@click.option("--each", default="2m", type=Duration(), help="Time for a mutant of an import.")
@click.option("--proofs/--no-proofs", default=True, show_default=True)
@click.option("--sample", type=FILE, help="Judge the mutants of a file, and draw none.")
@click.option("--save-sample", "saved", type=NEW_FILE, help="Write the mutants to this file.")
@click.option("--report", "written", type=NEW_FILE, help="Write the results as JSON.")
def score(
    seed: str,
    count: int,
    cases: int,
    first: int,
    seconds: float,
    jobs: int,
    each: float,
    proofs: bool,
    sample: str | None,
    saved: str | None,
    written: str | None,
) -> None:
    """Draw changes of irkit's source, and report which of them fuzzing and proofs find.

    The exit code is 1 if fewer than 85 % are found.

    \b
      python -m tests.mutation.schemata --jobs 2
    """
    started = time.monotonic()
    end = started + seconds
    seed = seed or last_code_commit()
    if sample is None:
        chosen = draw_sample(seed, count)
    else:
        found = [find_mutant(name) for name in read_sample(sample)]
        chosen = [mutant for mutant in found if mutant is not None]
        click.echo(
            f"sample: {len(chosen)} of {len(found)} are here, {len(found) - len(chosen)} gone"
        )
    if saved is not None:
        save_sample(saved, chosen)
    progress = partial(click.echo, err=True)
    with Campaign(chosen, number_of(seed), jobs=jobs, progress=progress) as campaign:
        campaign.load()
        campaign.run_cases(cases, started + _SHARE_OF_CASES * seconds, first=first)
        campaign.run_imported(cases, each, end)
    if proofs:
        prove_rest(campaign.tallies, progress)
    click.echo(text_report(campaign, seed))
    if written is not None:
        Path(written).write_bytes(json_report(campaign, seed))
    good = sum(bool(tally.found or tally.proof) for tally in campaign.tallies)
    sys.exit(0 if good >= REQUIRED_SHARE * len(chosen) else 1)


if __name__ == "__main__":
    score()
