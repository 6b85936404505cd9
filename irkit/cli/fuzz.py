"""The verb fuzz of the ``irkit`` command."""

import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from irkit.cli.flags.durations import Duration
from irkit.cli.flags.files import FILE, NEW_FILE, NEW_FOLDER, add_current_directory
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.placement import WithPasses
from irkit.core import FormatError, IRKitError, atomic_write
from irkit.fuzz.campaign import (
    CASE_SECONDS,
    Campaign,
    CampaignPlan,
    CaseOptions,
    DaskExecutor,
    Draw,
    as_junit,
    as_page,
    checked_names,
    exit_code,
    interruptible,
    read_draw,
    read_explored,
    run_case,
    summary,
    undisturbed,
    write_explored,
)
from irkit.fuzz.generators import KINDS, PROGRAM_KINDS, Kind
from irkit.fuzz.judge import INVARIANTS, missing_for
from irkit.processes import ChildDied, isolate

_LOG_INTERVAL = 30.0
_TERMINAL_INTERVAL = 1.0


class _CaseFlags(msgspec.Struct, frozen=True):
    """Values of the options that choose the cases."""

    seconds: float | None
    cases: int | None
    jobs: int | None
    seed: int
    kinds: tuple[Kind, ...]
    passes: tuple[str, ...]
    scheduler: str | None
    guided: bool


class _FileFlags(msgspec.Struct, frozen=True):
    """Values of the options that name files."""

    report: str | None
    junit: str | None
    findings: str
    corpus: str
    explored: str | None


_with_case_flags = as_value(
    "chosen",
    _CaseFlags,
    (
        click.option(
            "--time",
            "seconds",
            type=Duration(),
            help="Start no case after this much time.  [default: 1m]",
        ),
        click.option(
            "--cases",
            type=click.IntRange(min=1),
            metavar="N",
            help="Run N cases; without --time, however long that takes.",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1, 64),
            help="How many cases run at a time.  [default: 1; with --scheduler, as many as there "
            "are threads of workers]",
        ),
        click.option(
            "--scheduler",
            metavar="HOST:PORT",
            help="Run cases on the workers of the dask cluster with this scheduler, which needs "
            "irkit[distributed] here and there. Start workers with --nthreads 1: one that dies "
            "takes all of its cases along.",
        ),
        click.option(
            "--seed",
            default=0,
            show_default=True,
            type=click.IntRange(min=0),
            help="Choose the cases. The same seed gives the same ones: whatever --jobs is with "
            "--no-guide; with --jobs 1 otherwise.",
        ),
        click.option(
            "--guide/--no-guide",
            "guided",
            default=True,
            show_default=True,
            help="Watch which branches of irkit's own code the cases take; make cases from those "
            "that took a new one, as often as it brings others; let every second block of cases "
            "use a random subset of what can be drawn; run at O3 what is new to LLVM, and a fourth "
            "of the rest.",
        ),
        click.option(
            "--kind",
            "kinds",
            multiple=True,
            type=click.Choice(KINDS),
            help="What to draw. Repeatable.  [default: all that this machine has the tools for; "
            "with --pass, programs, schedules, pipelines, graphs, onnx and text]",
        ),
        click.option(
            "--pass",
            "passes",
            multiple=True,
            metavar="'PLACE:NAME{OPTIONS}'",
            help="Test this pass: it runs at PLACE (0-3, graph, before=OTHER, after=OTHER, "
            "PHASE/before=OTHER) in every case. NAME is module:function, or one that "
            "`irkit passes` lists. Quote it. Repeatable.",
        ),
    ),
)
_with_file_flags = as_value(
    "files",
    _FileFlags,
    (
        click.option("--report", type=NEW_FILE, metavar="FILE.html", help="Write an HTML report."),
        click.option("--junit", type=NEW_FILE, metavar="FILE.xml", help="Write JUnit XML for CI."),
        click.option(
            "--findings",
            default="fuzz-findings",
            show_default=True,
            type=NEW_FOLDER,
            help="Where to write findings, each in a file, and the cases that are running.",
        ),
        click.option(
            "--corpus",
            default="tests/corpus",
            show_default=True,
            type=NEW_FOLDER,
            help="Samples kept as text, which run first: copy a finding's .toml there to keep it.",
        ),
        click.option(
            "--explored",
            type=NEW_FOLDER,
            metavar="FOLDER",
            help="Begin with the cases in FOLDER, and leave there those that took new branches, "
            "as text that --replay runs.",
        ),
    ),
)


@click.command("fuzz", cls=WithPasses)
@_with_case_flags
@_with_file_flags
@click.option(
    "--replay",
    "again",
    type=FILE,
    metavar="FILE",
    help="Run the case of a finding again, and nothing else.",
)
def fuzz(chosen: _CaseFlags, files: _FileFlags, again: str | None) -> None:
    """Draw programs, schedules, pipelines and models at random, and check that everything that
    runs them agrees. Other kinds judge one part of irkit each, such as C source.

    Each case runs in the interpreter, before and after it is lowered, and as native code between
    guard pages: at LLVM's O0, and at O3 if anything in it is new. All must give what NumPy gives.
    One case in ten, and each that is wrong, also runs after each pass, which names the pass at
    fault. Every second case also checks an invariant that holds whatever is computed, such as that
    text reads back.

    A case that is wrong is reduced and kept: as text that needs no generator, as a test, and as a
    trace for `irkit inspect`.

    Cases run in worker processes with limits on time and memory; a crash of one is a finding. They
    run on this machine, or on all machines of a dask cluster.

    \b
      dask scheduler                                   # prints its address
      dask worker HOST:8786 --nthreads 1 --nworkers 8  # on each machine
      irkit fuzz --time 1h --scheduler HOST:8786

    The exit code is 0 if nothing was found; 1 if something was; 2 if nothing was tested: fewer than
    90 % of the cases valid, too few cases, or a pass under test that changed something in fewer
    than 10 of them.

    \b
      irkit fuzz --time 5m --jobs 2 --seed 7
      irkit fuzz --cases 1000 --kind programs --kind schedules
      irkit fuzz --time 1m --pass '1:my_package.passes:my_pass{lanes=8}'
      irkit fuzz --replay fuzz-findings/mismatch-at-lowered-simplify-programs-7-12.toml
    """
    add_current_directory()
    if again is not None:
        sys.exit(_replay(Path(again)))
    if files.explored is not None and not chosen.guided:
        raise click.UsageError("--explored needs --guide")
    if files.report is not None and files.report == files.junit:
        raise click.UsageError(f"--report and --junit cannot both be {files.report}")
    for path in filter(None, (files.report, files.junit)):
        _check_writable(path)  # Before the campaign, which may take an hour.
    campaign = _campaign(_plan(chosen, files), chosen)
    with interruptible():
        try:
            campaign.run(_Progress())
        finally:
            with suppress(OSError):  # A folder with findings stays.
                Path(files.findings).rmdir()
        with undisturbed():
            problems = [
                problem
                for path, write in ((files.report, as_page), (files.junit, as_junit))
                if path is not None and (problem := _write(path, write(campaign)))
            ]
            if files.explored is not None:
                write_explored(Path(files.explored), campaign.corpus)
    click.echo("\n".join((summary(campaign), *problems)))
    sys.exit(exit_code(campaign) or 2 * bool(problems))


def _plan(chosen: _CaseFlags, files: _FileFlags) -> CampaignPlan:
    kept = _kept(Path(files.corpus))
    unlimited = chosen.seconds is None and chosen.cases is None
    return CampaignPlan(
        seed=chosen.seed,
        kinds=_kinds(chosen.kinds, PROGRAM_KINDS if chosen.passes else KINDS),
        seconds=60.0 if unlimited else chosen.seconds,
        cases=chosen.cases,
        jobs=chosen.jobs or 1,
        passes=chosen.passes,
        under_test=checked_names(chosen.passes),
        folder=Path(files.findings),
        kept=kept,
        explored=() if files.explored is None else read_explored(Path(files.explored)),
        guided=chosen.guided,
    )


def _kinds(named: tuple[Kind, ...], usual: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Return the kinds that are named, or of the usual ones those that can be drawn here, and say
    which cannot.

    Raises: IRKitError if one that is named needs something that is not installed.
    """
    missing = {kind: what for kind in named or usual if (what := missing_for(kind))}
    for kind, what in missing.items():
        if named:
            raise IRKitError(f"cases of kind {kind!r} cannot be drawn here: {what}")
        click.echo(f"not drawn: {kind} ({what})", err=True)
    return tuple(dict.fromkeys(kind for kind in named or usual if kind not in missing))


def _campaign(plan: CampaignPlan, chosen: _CaseFlags) -> Campaign:
    """Return the campaign, on this machine or on a cluster. Raises: IRKitError without one."""
    if chosen.scheduler is None:
        return Campaign(plan)
    cluster = DaskExecutor(chosen.scheduler, plan.name)
    jobs = chosen.jobs or cluster.threads
    return Campaign(msgspec.structs.replace(plan, jobs=jobs), executor=lambda: cluster)


def _check_writable(path: str) -> None:
    """Raise IRKitError if a file cannot be written."""
    if os.path.exists(path) and not os.path.isfile(path):
        return  # A device or a pipe: its folder need not be writable.
    folder = os.path.dirname(path) or "."
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise IRKitError(f"{path} cannot be written: {error.strerror}") from None


def _write(path: str, text: str) -> str:
    """Write a file; return an error message if that fails."""
    try:
        with atomic_write(path) as made:
            made.write_text(text, "utf-8")
    except OSError as error:
        return f"error: {path} cannot be written: {error.strerror}"
    return ""


def _kept(corpus: Path) -> tuple[Draw, ...]:
    """Read the cases of a folder. Raises: FormatError if a file is not a case."""
    try:
        return tuple(read_draw(path) for path in sorted(corpus.glob("*.toml")) if path.is_file())
    except IRKitError as error:
        hint = "Repair or remove it, or name another folder with --corpus."
        raise FormatError(error.message, hint=f"{error.hint}\n  {hint}".strip()) from None


class _Progress:
    """Prints the progress of a campaign: often on a terminal, seldom in a log."""

    def __init__(self) -> None:
        self.on_terminal = sys.stderr.isatty()
        self.every = _TERMINAL_INTERVAL if self.on_terminal else _LOG_INTERVAL
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
        click.echo(f"\r{text}   " if self.on_terminal else text, err=True, nl=not self.on_terminal)


def _replay(path: Path) -> int:
    """Run the case of a file and print the outcome; return 1 if it is still wrong."""
    draw = read_draw(path)
    options = CaseOptions(thorough=True, invariants=tuple(INVARIANTS))
    try:
        outcome = isolate(run_case, draw, options, seconds=CASE_SECONDS).outcome
    except ChildDied as died:
        click.echo(f"{draw.name}: {died.kind}\n{died}")
        return 1
    click.echo(f"{draw.name}: {outcome.symptom}")
    if outcome.named:
        click.echo(f"after {outcome.named}")
    if outcome.message:
        click.echo(outcome.message)
    return 1 if outcome.is_finding else 0
