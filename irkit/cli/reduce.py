"""The verb reduce of the ``irkit`` command."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.cli.flags.check_flags import CheckFlags, with_check_flags
from irkit.cli.flags.files import NEW_FOLDER, read_module
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.placement import WithPasses, add_current_directory
from irkit.cli.notes import note
from irkit.core import IRKitError
from irkit.debug import (
    FailingCase,
    Failure,
    IsolationPolicy,
    console,
    crash_pipeline,
    failure_of,
    find_case,
    read_crash,
    reduce,
    size_of_case,
    write_case,
)
from irkit.ir import PrimFunc
from irkit.passes import installed_passes
from irkit.phases import pipeline_for
from irkit.processes import Limits
from irkit.transform import Apply, Pipeline, sub_pipeline


class _PassFlags(msgspec.Struct, frozen=True):
    """Values of the options about how passes run, and which."""

    pipeline: str | None
    isolate: bool
    pass_timeout: float | None


_with_pass_flags = as_value(
    "running",
    _PassFlags,
    (
        click.option(
            "--pipeline",
            metavar="'1:NAME,NAME;2:NAME'",
            help="Run these passes and no others. Quote it.",
        ),
        click.option("--isolate", is_flag=True, help="Run passes in a separate process."),
        click.option(
            "--pass-timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Stop a pass that takes longer, and treat that as a failure.",
        ),
    ),
)


@click.command("reduce", cls=WithPasses)
@click.argument("file", type=click.Path(exists=True))
@click.option(
    "-o",
    "--output",
    type=NEW_FOLDER,
    default="reduced",
    show_default=True,
    help="The folder that the reduced case is written to.",
)
@click.option(
    "--function", "name", metavar="NAME", help="The function to reduce, if there are several."
)
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0.1, max=86_400),
    help="Stop looking for something smaller after this time.",
)
@with_check_flags
@_with_pass_flags
def reduce_(
    file: str,
    output: str,
    name: str | None,
    seconds: float,
    chosen: CheckFlags,
    running: _PassFlags,
) -> None:
    """Reduce the function in FILE, its schedule, the passes and the inputs to a small case in which
    the same pass or primitive still breaks it. FILE can be a crash folder too.

    The folder then holds reduced.irs, pipeline.txt, inputs.npz, and test_reduced.py, a pytest that
    fails for as long as the failure is there; and reduced_schedule.json if there is a schedule.

    \b
      irkit reduce kernel.irs --pass '2:my_package.passes:my_pass'
      irkit reduce kernel.irs --schedule trace.json
      irkit reduce irkit-crash-1f2e3d4c5b6a
      irkit reduce kernel.irs --pipeline '1:lower-blocks,my_package.passes:my_pass' -o smaller
    """
    if running.pipeline is not None and (
        chosen.passes or chosen.disabled or chosen.stop_after is not None
    ):
        raise click.UsageError("--pipeline names all passes: leave --pass and the like out")
    add_current_directory()
    isolate, pass_timeout = running.isolate, running.pass_timeout
    if Path(file).is_dir():
        if chosen.schedule is not None:
            raise click.UsageError("--schedule is for loop IR (.irs): a crash folder has none")
        runs = [_of_crash(file)]
        pass_timeout = pass_timeout or read_crash(Path(file)).limits.seconds
        isolate = True
    else:
        runs = _of_file(file, name, chosen, running.pipeline)
    guard = IsolationPolicy(isolate, pass_timeout, None, crash_dir=None)
    options = {**chosen.options(), "schedule": chosen.schedule_trace()}
    if chosen.schedule is not None and len(runs) > 1:
        raise click.UsageError("say which --function the schedule is for: there are several")
    with guard.running(note) as apply:
        case, failure = _first_failing(runs, {**options, "apply": apply})
        click.echo(f"{failure.text}\nbefore: {size_of_case(case)}")
        with _progress() as progress:
            reduced = reduce(case, failure, seconds=seconds, progress=progress, apply=apply)
        smaller, failure = _as_text(reduced.case, failure, apply)
    test = write_case(Path(output), smaller, failure, installed_passes(), Limits(pass_timeout))
    click.echo(f"after:  {reduced.after}")
    ended = "" if reduced.finished else ", and could go on: give it more --seconds"
    click.echo(f"{reduced.candidates} candidates in {reduced.seconds:.1f} s{ended}")
    click.echo(f"\n{smaller.func.script()}\n{failure.text}\n\nRun it with: python -m pytest {test}")


def _of_file(
    file: str, name: str | None, chosen: CheckFlags, text: str | None
) -> list[tuple[PrimFunc, Pipeline]]:
    pipeline = chosen.loop_passes()
    return [
        (func, pipeline if text is None else pipeline_for(text, func))
        for func in _functions(file, name)
    ]


def _functions(file: str, name: str | None) -> list[PrimFunc]:
    module = read_module(file)
    chosen = module.functions.values() if name is None else [module[name]]
    loops = [func for func in chosen if isinstance(func, PrimFunc)]
    if not loops:
        raise IRKitError(f"{file} has no function over loops to reduce")
    return loops


def _first_failing(
    runs: list[tuple[PrimFunc, Pipeline]], options: dict[str, Any]
) -> tuple[FailingCase, Failure]:
    """Return the first function that some pass breaks, as a case."""
    for func, pipeline in runs:
        found = find_case(pipeline, func, **options)
        if found is not None:
            return found
    names = ", ".join(repr(func.name) for func, _ in runs)
    raise IRKitError(
        f"there is nothing to reduce: every step keeps the meaning of {names}",
        hint="Give the inputs on which it fails with --inputs, or try more with --samples.",
    )


def _of_crash(folder: str) -> tuple[PrimFunc, Pipeline]:
    before, pipeline = crash_pipeline(folder)
    if not isinstance(before, PrimFunc):
        raise IRKitError(f"{folder} is not about a function over loops; only those can be reduced")
    return before, sub_pipeline(pipeline, pipeline.placed, before)


def _as_text(case: FailingCase, failure: Failure, apply: Apply) -> tuple[FailingCase, Failure]:
    """Read the case back from its text, as the test will, and check that it fails again."""
    reread = case.reread()
    pipeline = pipeline_for(case.pipeline.text(installed_passes()), reread.func)
    reread = reread.replace(pipeline=pipeline)
    again = failure_of(reread, apply=apply)
    if again is None or not again.is_like(failure):
        raise IRKitError(
            f"cannot write {case.func.name!r} as a test: read back from its text it does not fail",
            hint="The pass depends on something that is not in the text, such as a span.",
        )
    return reread, again


@contextmanager
def _progress() -> Generator[Callable[[str, int, FailingCase], None]]:
    """Show the progress of the search if there is a terminal."""
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("reduce", total=None)

        def show(family: str, count: int, case: FailingCase) -> None:
            bar.update(task, description=f"{family}: {size_of_case(case)}, {count} candidates")

        yield show
