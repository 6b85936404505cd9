"""The verb tune of the ``irkit`` command: search for faster schedules by measuring them."""

import json
import os
import time
from pathlib import Path

import click
import msgspec
from rich.live import Live
from rich.table import Table

from irkit.cli.flags.durations import Duration
from irkit.cli.flags.files import FILE, NEW_FILE, add_current_directory
from irkit.cli.flags.fixed_inputs import SHAPE, VALUE, fixed_inputs
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.programs import read_program
from irkit.core import FormatError, IRKitError, atomic_write, console
from irkit.ir import PrimFunc, is_unscheduled
from irkit.phases import model_tasks
from irkit.tune import (
    BenchSettings,
    Distributed,
    Local,
    Measure,
    Record,
    RecordFile,
    Records,
    Residual,
    Task,
    TuneProgress,
    TuneResult,
    fingerprint,
    read_auto_scheduler,
    read_autotvm,
    read_records,
    resumed_task,
    task,
    tune_all,
    tuning_page,
)

_LOG_INTERVAL = 10.0


class _TuneFlags(msgspec.Struct, frozen=True):
    """Values of the options of the search."""

    output: str | None
    resume: str | None
    trials: int | None
    seconds: float | None
    jobs: int
    threads: int
    flush: bool
    seed: int
    arguments: str
    shapes: tuple[str, ...]
    values: tuple[str, ...]
    profile: str | None
    hints: str | None
    scheduler: str | None
    report: str | None
    cost_model: str | None


_with_tune_flags = as_value(
    "wanted",
    _TuneFlags,
    (
        click.option(
            "-o", "--output", type=NEW_FILE, help="The records to write or to add to, JSON lines."
        ),
        click.option(
            "--resume",
            type=FILE,
            metavar="FILE.jsonl",
            help="Go on with these records; without SUBJECT, with the tasks in them.",
        ),
        click.option("--trials", type=click.IntRange(1), help="Candidates of each task."),
        click.option(
            "--time",
            "seconds",
            type=Duration(),
            help="Wall time of the whole command, such as 60s.  [default: 64 trials]",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="Processes that build candidates.",
        ),
        click.option(
            "--threads",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="Threads that run a kernel.",
        ),
        click.option("--flush", is_flag=True, help="Empty the caches before each sample."),
        click.option("--seed", type=int, default=0, show_default=True, help="Of the search."),
        click.option(
            "--args",
            "arguments",
            default="",
            metavar="512,512",
            help="Arguments of a function or template, as JSON with commas.",
        ),
        SHAPE,
        VALUE,
        click.option(
            "--profile",
            type=FILE,
            metavar="FILE.json",
            help="Weigh the kernels of a model by the profile that irkit run --profile-json wrote.",
        ),
        click.option(
            "--hints",
            type=FILE,
            metavar="FILE.log",
            help="Measure first what a log of AutoTVM or auto_scheduler has for the template and "
            "these arguments.",
        ),
        click.option(
            "--scheduler",
            metavar="HOST:PORT",
            help="Measure on the workers of a dask cluster: pip install 'irkit[distributed]'.",
        ),
        click.option(
            "--cost-model",
            type=NEW_FILE,
            metavar="FILE.json",
            help="Begin with what is learned in this file, if it is there, and add to it; learning "
            "needs lightgbm.",
        ),
        click.option(
            "--report", type=NEW_FILE, metavar="FILE.html", help="Write what was tried as a page."
        ),
    ),
)


@click.command("tune")
@click.argument("subject", required=False)
@_with_tune_flags
def tune_(subject: str | None, wanted: _TuneFlags) -> None:
    """Search for schedules that are faster than those that irkit chooses without measuring.

    SUBJECT is an ONNX model, IR text, or a function or template as FILE.py:NAME. Candidates are
    built in processes of their own and checked against the loops as written; a crash is a record.
    What wins is raced against the default once more in the end, and is only used if it is faster
    beyond noise. The same seed and --trials begin with the same candidates; --time promises nothing
    about which are reached.

    \b
      irkit tune model.onnx -o records.jsonl --time 60s --jobs 2
      irkit compile model.onnx -o model.irkit --records records.jsonl
      irkit tune kernel.py:matmul --trials 200
      irkit tune --resume records.jsonl --trials 400
    """
    add_current_directory()
    output = wanted.output or wanted.resume
    known = None if wanted.resume is None else _known(wanted.resume)
    tasks = _tasks(subject, wanted, known)
    hints = _hints(wanted, tasks)
    if not tasks:
        click.echo("nothing to tune: no kernel has enough operations")
        return
    left = None
    if wanted.seconds is not None:
        left = max(0.1, wanted.seconds - _startup())
    learned = Residual()
    if wanted.cost_model is not None and Path(wanted.cost_model).exists():
        learned.load(wanted.cost_model)
    shown = _Shown(len(tasks))
    file = None if output is None else RecordFile(output)
    try:
        with shown:
            results = tune_all(
                tasks,
                trials=wanted.trials,
                time=left,
                measure=_measure(wanted),
                records=file,
                known=known,
                seed=wanted.seed,
                callbacks=[shown.note],
                finished=shown.finished,
                hints=hints,
                residual=learned,
            )
    finally:
        if wanted.cost_model is not None:
            learned.save(wanted.cost_model)
        if file is not None:
            file.close()
    if wanted.report is not None:
        with atomic_write(wanted.report) as made:
            made.write_text(tuning_page(results), "utf-8")
    _summary(tasks, results, output, timed=wanted.seconds is not None)


def _startup() -> float:
    """Return the seconds from the start of this process until now; 0 where nobody knows."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        begun = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - begun)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def _measure(wanted: _TuneFlags) -> Measure:
    if wanted.scheduler is None:
        return Local(wanted.jobs, threads=wanted.threads, flush=wanted.flush, seed=wanted.seed)
    settings = BenchSettings(wanted.jobs, wanted.threads, wanted.flush, seed=wanted.seed)
    return Distributed(wanted.scheduler, settings)


def _known(path: str) -> Records:
    found = read_records(path)
    if found.damaged:
        click.echo(f"note: {found.report(path)}", err=True)
    here = fingerprint()
    others = sum(each.machine.fingerprint != here for each in found.candidates)
    if others:
        click.echo(f"note: {others} candidates were measured elsewhere than on {here}", err=True)
    return found


def _tasks(subject: str | None, wanted: _TuneFlags, known: Records | None) -> list[Task]:
    """Return the tasks of the subject, or those that the records are about."""
    if subject is None:
        if known is None:
            raise click.UsageError("name what to tune, or records with --resume")
        return [resumed_task(each, threads=wanted.threads) for each in known.tasks.values()]
    if ":" in subject and not Path(subject).exists():
        return [task(subject, _arguments(wanted.arguments), threads=wanted.threads)]
    program = read_program(subject, fixed_inputs(wanted.shapes, wanted.values))
    if program.is_of_graphs:
        seconds = None if wanted.profile is None else _seconds(wanted.profile)
        return model_tasks(program.module, threads=wanted.threads, seconds=seconds)
    functions = program.module.functions.values()
    found = [each for each in functions if isinstance(each, PrimFunc) and is_unscheduled(each)]
    if not found:
        raise IRKitError(
            f"{subject} has no function that nobody has scheduled",
            hint="A search begins with loops as te.create_prim_func makes them.",
        )
    return [task(each, threads=wanted.threads) for each in found]


def _arguments(text: str) -> list[object]:
    """Return the arguments of a template."""
    try:
        found: list[object] = json.loads(f"[{text}]")
    except ValueError as error:
        raise click.UsageError(
            f"--args {text!r} is not JSON: {error}; write numbers with commas, and text in quotes"
        ) from None
    return found


def _seconds(path: str) -> dict[str, float]:
    """Return the seconds of each kernel of a profile."""
    try:
        kernels = json.loads(Path(path).read_bytes())["kernels"]
        return {str(each["kernel"]): float(each["seconds"]) for each in kernels}
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{path} is not the JSON of a profile: {error}") from None


def _hints(wanted: _TuneFlags, tasks: list[Task]) -> dict[str, list[dict[str, object]]]:
    """Return the candidates of a log of TVM's tuners by the hash of the task that they fit."""
    if wanted.hints is None:
        return {}
    ours, theirs = read_autotvm(wanted.hints), read_auto_scheduler(wanted.hints)
    found: dict[str, list[dict[str, object]]] = {}
    for each in tasks:
        if not each.template:
            continue
        own = [
            (entry.error, entry.seconds, entry.values)
            for entry in ours
            if entry.task == each.template and list(entry.args) == list(each.args)
        ]
        knobs = each.space.groups({})[0].sketch("knobs").knobs
        for entry in theirs:
            values = entry.values_for(each.template, each.args, knobs)
            if values is not None:
                own.append((entry.error, entry.seconds, values))
        found[each.hash] = [values for _, _, values in sorted(own, key=lambda hint: hint[:2])]
    used, lines = sum(map(len, found.values())), len(ours) + len(theirs)
    click.echo(f"{used} of {lines} lines of {wanted.hints} fit, and are measured first")
    return found


class _Shown:
    """The progress of a search: a live table on a terminal, lines in a log."""

    def __init__(self, tasks: int) -> None:
        self._console = console(stderr=True)
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        self._tasks, self._done = tasks, 0
        self._next = time.monotonic() + _LOG_INTERVAL

    def __enter__(self) -> "_Shown":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *ignored: object) -> None:
        self._live.stop()

    def note(self, progress: TuneProgress, record: Record | None) -> None:
        """Show how far the search of a task is."""
        if self._console.is_terminal:
            self._live.update(self._table(progress), refresh=True)
        elif time.monotonic() > self._next:
            self._next = time.monotonic() + _LOG_INTERVAL
            click.echo(_line(progress), err=True)

    def finished(self, result: TuneResult) -> None:
        """Note that a task is done."""
        self._done += 1

    def _table(self, progress: TuneProgress) -> Table:
        table = Table(title=f"task {self._done + 1} of {self._tasks}: {progress.task}")
        for name in ("trials", "times the default", "GFLOP/s", "of the roof", "left", "failures"):
            table.add_column(name, justify="right")
        share = progress.gflops / progress.roof if progress.roof else 0.0
        left = "" if progress.remaining is None else f"{progress.remaining:.0f} s"
        failures = ", ".join(f"{n} {kind}" for kind, n in progress.failures.most_common())
        table.add_row(
            str(progress.trials),
            f"{progress.score:.2f}",
            f"{progress.gflops:.1f}",
            f"{100 * share:.0f} %" if share else "",
            left,
            failures or "none",
        )
        return table


def _line(progress: TuneProgress) -> str:
    failures = ", ".join(f"{count} {kind}" for kind, count in progress.failures.most_common())
    return (
        f"{progress.task}: {progress.trials} trials, best {progress.score:.2f} times the default, "
        f"noise {100 * progress.noise:.1f} %, failures: {failures or 'none'}"
    )


def _summary(
    tasks: list[Task], results: list[TuneResult], output: str | None, *, timed: bool
) -> None:
    for each in results:
        found = (
            f"{each.speedup:.2f} times as fast ({each.low:.2f} to {each.high:.2f})"
            if each.improved
            else "the default stays"
        )
        tried = sum(record.stage == "search" for record in each.records)
        measured = any(record.measure is not None for record in each.records)
        noise = f", noise {100 * each.noise:.1f} %" if measured else ", none of them measured"
        ranked = f", ranked with correlation {each.correlation:.2f}" if each.correlation else ""
        ranked += f", {each.built:.2f} once built" if each.built else ""
        ranked += f", {each.skipped} more built but not raced" if each.skipped else ""
        click.echo(
            f"{each.task.name}: {found}; {tried} candidates in {each.seconds:.1f} s{noise}{ranked}"
        )
        if tried and not any(record.verdict == "ok" for record in each.records):
            first = each.records[0]
            click.echo(f"  no candidate was usable: {first.verdict}: {first.message}")
            click.echo(f"  with {', '.join(f'{n} = {v}' for n, v in first.values.items())}")
    if len(results) < len(tasks):
        click.echo(f"{len(tasks) - len(results)} tasks are left: the time was up")
    if output is not None and any(each.improved for each in results):
        click.echo(f"{output}: apply the winners with --records {output}")
    elif output is not None:
        click.echo(f"{output}: nothing won, so --records {output} changes nothing")
    if timed:
        click.echo("with --time, another run may reach other candidates; --trials reaches the same")
