"""The verb fuzz of the ``irkit`` command."""

import os
import re
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import click

from irkit.cli.flags.files import NEW_FILE, NEW_FOLDER
from irkit.cli.flags.placement import WithPasses, add_current_directory
from irkit.core import FormatError, IRKitError, atomic_write
from irkit.debug import ChildDied, isolate
from irkit.fuzz.campaign import Campaign, CampaignPlan, CaseOptions, Draw, read_draw, run_case
from irkit.fuzz.campaign.draw import checked_names
from irkit.fuzz.campaign.engine import CASE_SECONDS
from irkit.fuzz.campaign.interrupts import interruptible, undisturbed
from irkit.fuzz.campaign.page import as_page
from irkit.fuzz.campaign.summary import as_junit, exit_code, summary
from irkit.fuzz.generators import KINDS, Kind
from irkit.fuzz.judge import INVARIANTS
from irkit.fuzz.mutation.runner import FuzzOrder, fuzz_all_changes

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_TOLD_EVERY = 30.0
_TOLD_EVERY_TO_A_PERSON = 1.0


class Duration(click.ParamType[float]):
    """A time, such as 90, 30s, 5m or 1h. Units: seconds."""

    name = "TIME"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it."""
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)", str(value).strip())
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is no time; expected such as 30s, 5m or 1h", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


@click.command("fuzz", cls=WithPasses)
@click.option("--time", "seconds", type=Duration(), help="Begin no case after this.  [default: 1m]")
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run N cases; without --time, however long that takes.",
)
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 64), help="Workers.")
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Which cases. The same seed gives the same ones, whatever --jobs.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="What to draw. Repeatable.  [default: all]",
)
@click.option(
    "--pass",
    "passes",
    multiple=True,
    metavar="'PLACE:NAME{OPTIONS}'",
    help="Test this pass: it runs at PLACE (0-3, graph, before=OTHER, after=OTHER) in every case. "
    "NAME is module:function, or one that `irkit passes` lists. Quote it. Repeatable.",
)
@click.option(
    "--mutants",
    is_flag=True,
    help="Test the fuzzer: break irkit's own source in a child process, one change at a time, and "
    "say after how many cases each is found (at most --cases each, or 10,000).",
)
@click.option("--report", type=NEW_FILE, metavar="FILE.html", help="Write a page about it.")
@click.option("--junit", type=NEW_FILE, metavar="FILE.xml", help="Write what CI reads.")
@click.option(
    "--findings",
    "folder",
    default="fuzz-findings",
    show_default=True,
    type=NEW_FOLDER,
    help="Where findings go, a file each, and what is running now.",
)
@click.option(
    "--corpus",
    default="tests/corpus",
    show_default=True,
    type=NEW_FOLDER,
    help="Samples kept as text, which run first: copy a finding's .toml there to keep it.",
)
@click.option(
    "--replay",
    "again",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Run the case of a finding again, and nothing else.",
)
def fuzz(
    seconds: float | None,
    cases: int | None,
    jobs: int,
    seed: int,
    kinds: tuple[str, ...],
    passes: tuple[str, ...],
    mutants: bool,
    report: str | None,
    junit: str | None,
    folder: str,
    corpus: str,
    again: str | None,
) -> None:
    """Draw programs, schedules, pipelines and models at random, and say whether all that runs them
    agrees.

    Each case runs in the interpreter, before and after it is lowered, and twice as native code
    (LLVM's O0 and O3, amid guard pages); all must give what NumPy gives. One case in ten, and each
    that is wrong, also runs after each pass, which names the guilty one. Every second case asks for
    one of the promises that hold whatever is computed, such as that text reads back.

    What is wrong is made small, and kept as text that needs no generator, as a test, and as a trace
    for `irkit inspect`.

    Cases run in worker processes with limits on time and memory; what crashes one is a finding.
    The exit code is 0 if all is well; 1 if something was found; 2 if nothing was tested: fewer than
    90 % of the cases valid, too few cases, or a pass under test that changed something in fewer
    than 10 % of them.

    \b
      irkit fuzz --time 5m --jobs 2 --seed 7
      irkit fuzz --cases 1000 --kind programs --kind schedules
      irkit fuzz --time 1m --pass '1:my_package.passes:my_pass{lanes=8}'
      irkit fuzz --mutants --time 10m --jobs 2
      irkit fuzz --replay fuzz-findings/mismatch-at-lowered-simplify-programs-7-12.toml
    """
    add_current_directory()
    if again is not None:
        sys.exit(_replayed(Path(again)))
    drawn = cast("tuple[Kind, ...]", tuple(dict.fromkeys(kinds)) or KINDS)
    if mutants:
        if passes or report or junit:
            raise click.UsageError("--mutants goes with --time, --cases, --jobs, --seed and --kind")
        hunt = FuzzOrder(seed=seed, count=cases or FuzzOrder().count, kinds=drawn)
        progress = partial(click.echo, err=True)
        sys.exit(
            fuzz_all_changes(hunt, report=click.echo, progress=progress, jobs=jobs, seconds=seconds)
        )
    if report is not None and report == junit:
        raise click.UsageError(f"--report and --junit cannot both be {report}")
    for path in filter(None, (report, junit)):
        _writable(path)  # Or an hour of fuzzing would be for nothing.
    kept = _kept(Path(corpus))
    if seconds is None and cases is None:
        seconds = _UNITS["m"]
    plan = CampaignPlan(
        seed=seed,
        kinds=drawn,
        seconds=seconds,
        cases=cases,
        jobs=jobs,
        passes=passes,
        under_test=checked_names(passes),
        folder=Path(folder),
        kept=kept,
    )
    campaign = Campaign(plan)
    with interruptible():
        try:
            campaign.run(_Progress())
        finally:
            with suppress(OSError):  # It stays where there is something in it.
                Path(folder).rmdir()
        with undisturbed():
            problems = [
                problem
                for path, write in ((report, as_page), (junit, as_junit))
                if path is not None and (problem := _write(path, write(campaign)))
            ]
    click.echo("\n".join((summary(campaign), *problems)))
    sys.exit(exit_code(campaign) or 2 * bool(problems))


def _writable(path: str) -> None:
    """See whether a file can be made. Raises: IRKitError."""
    if os.path.exists(path) and not os.path.isfile(path):
        return  # A device, or a pipe, which has no folder of ours.
    folder = os.path.dirname(path) or "."
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise IRKitError(f"{path} cannot be written: {error.strerror}") from None


def _write(path: str, text: str) -> str:
    """Write a file; say why not, if so."""
    try:
        with atomic_write(path) as made:
            made.write_text(text, "utf-8")
    except OSError as error:
        return f"error: {path} cannot be written: {error.strerror}"
    return ""


def _kept(corpus: Path) -> tuple[Draw, ...]:
    """Read the cases of a folder. Raises: IRKitError if one is none."""
    try:
        return tuple(read_draw(path) for path in sorted(corpus.glob("*.toml")) if path.is_file())
    except IRKitError as error:
        hint = "Mend or remove it, or name another folder with --corpus."
        raise FormatError(error.message, hint=f"{error.hint}\n  {hint}".strip()) from None


class _Progress:
    """Tell how far a campaign is: often to a person, seldom to a log."""

    def __init__(self) -> None:
        self.person = sys.stderr.isatty()
        self.every = _TOLD_EVERY_TO_A_PERSON if self.person else _TOLD_EVERY
        self.next = time.monotonic() + self.every

    def __call__(self, campaign: Campaign) -> None:
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.every
        tally = campaign.tally
        found = campaign.findings.counted.total()
        rate = tally.cases / campaign.seconds if campaign.seconds else 0.0
        text = (
            f"{tally.cases} cases, {rate:.1f} a second, {tally.valid_share:.1%} valid, "
            f"{found} wrong, {campaign.seconds:.0f} s"
        )
        click.echo(f"\r{text}   " if self.person else text, err=True, nl=not self.person)


def _replayed(path: Path) -> int:
    """Run the case of a file, and say what comes of it; 1 if it is still wrong."""
    draw = read_draw(path)
    asked = CaseOptions(thorough=True, promises=tuple(INVARIANTS))
    try:
        outcome = isolate(run_case, draw, asked, seconds=CASE_SECONDS).outcome
    except ChildDied as died:
        click.echo(f"{draw.name}: {died.kind}\n{died}")
        return 1
    click.echo(f"{draw.name}: {outcome.symptom}")
    if outcome.named:
        click.echo(f"after {outcome.named}")
    if outcome.message:
        click.echo(outcome.message)
    return 1 if outcome.is_finding else 0
