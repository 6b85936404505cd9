"""The verb reduce of the ``irkit`` command."""

from pathlib import Path
from typing import Any

import click
import msgspec

from irkit.cli.flags.check_flags import CheckFlags, with_check_flags
from irkit.cli.flags.files import NEW_FOLDER, add_current_directory
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.isolation_flags import isolate_flag, isolated
from irkit.cli.flags.placement import WithPasses
from irkit.cli.flags.programs import ProgramFile
from irkit.cli.flags.progress import verdict_progress
from irkit.cli.output.notes import note_not_isolated
from irkit.cli.reduction import write_guilty_step, write_reduced
from irkit.core import IRKitError, IRModule
from irkit.debug import (
    CheckOptions,
    FailingCase,
    Failure,
    GuiltyStep,
    IsolationPolicy,
    crash_pipeline,
    find_case,
    find_guilty_step,
    read_crash,
    with_untouched_input,
)
from irkit.ir import PrimFunc
from irkit.phases import pipeline_for
from irkit.processes import Limits
from irkit.transform import Apply, Pipeline, sub_pipeline


class _PassFlags(msgspec.Struct, frozen=True):
    """Values of the options about how passes run, and which."""

    pipeline: str | None
    isolate: bool | None
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
        isolate_flag(users=True),
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
    the same pass or primitive still breaks it. FILE holds IR text (.irs), an ONNX model or a trace,
    or is a crash folder.

    The folder then holds reduced.irs, pipeline.txt, inputs.npz, and test_reduced.py, a pytest that
    fails for as long as the failure is there; and reduced_schedule.json if there is a schedule. Of
    a pass over graphs or modules it holds the module and its constants in place of inputs.

    \b
      irkit reduce kernel.irs --pass '2:my_package.passes:my_pass'
      irkit reduce kernel.irs --schedule trace.json
      irkit reduce model.onnx --pass '2:my_package.passes:my_pass'
      irkit reduce irkit-crash-1f2e3d4c5b6a
      irkit reduce kernel.irs --pipeline '1:lower-blocks,my_package.passes:my_pass' -o smaller
    """
    if running.pipeline is not None and (
        chosen.passes or chosen.disabled or chosen.stop_after is not None
    ):
        raise click.UsageError("--pipeline names all passes: leave --pass and the like out")
    add_current_directory()
    isolate, pass_timeout = isolated(running.isolate, users=True), running.pass_timeout
    if Path(file).is_dir():
        if chosen.schedule_trace().steps:
            raise click.UsageError("--schedule is for loop IR (.irs): a crash folder has none")
        program = ProgramFile(IRModule({}))
        runs = [_of_crash(file)]
        pass_timeout = pass_timeout or read_crash(Path(file)).limits.seconds
        isolate = "all"
    else:
        program = chosen.program(file)
        runs = _of_program(program, file, name, chosen, running.pipeline)
    guard = IsolationPolicy(isolate, pass_timeout, None, crash_dir=None)
    schedule = chosen.schedule_trace()
    if schedule.steps and len(runs) > 1:
        raise click.UsageError("say which --function the schedule is for: there are several")
    with guard.running(note_not_isolated) as run_pass:
        apply = with_untouched_input(run_pass)
        limits = Limits(pass_timeout)
        if not runs:
            found = _guilty_step(program, chosen, apply)
            click.echo(str(found.verdict))
            options = chosen.options(program)
            write_guilty_step(found, options, output, seconds=seconds, limits=limits, apply=apply)
            return
        options = {**chosen.options(program), "apply": apply, "schedule": schedule}
        case, failure = _first_failing(runs, options)
        click.echo(failure.text)
        write_reduced(case, failure, output, seconds=seconds, limits=limits, apply=apply)


def _of_program(
    program: ProgramFile, file: str, name: str | None, chosen: CheckFlags, text: str | None
) -> list[tuple[PrimFunc, Pipeline]]:
    """Return the functions to try one after the other, each with its pipeline; none for a model, or
    if a pass is over modules: then all passes run on all functions."""
    module = program.module
    *graphs, loops = chosen.pipelines(program)
    if program.is_of_graphs and (name is not None or text is not None):
        for pipeline in graphs:
            module = pipeline.run(module)
    elif name is None and text is None:
        over_modules = any(p.on_modules for _, p in loops.placed)
        if program.is_of_kernels or over_modules:
            return []
    wanted = module.functions.values() if name is None else [module[name]]
    functions = [func for func in wanted if isinstance(func, PrimFunc)]
    if not functions:
        raise IRKitError(f"{file} has no function over loops to reduce")
    return [(func, loops if text is None else pipeline_for(text, func)) for func in functions]


def _guilty_step(program: ProgramFile, chosen: CheckFlags, apply: Apply) -> GuiltyStep:
    many = program.is_of_kernels
    with verdict_progress(many=many) as progress:
        found = find_guilty_step(
            chosen.pipelines(program),
            program.module,
            CheckOptions(**chosen.options(program), together=many),
            apply=apply,
            progress=progress,
        )
    if found is None:
        names = ", ".join(map(repr, program.module.functions))
        raise _nothing_to_reduce(names)
    return found


def _first_failing(
    runs: list[tuple[PrimFunc, Pipeline]], options: dict[str, Any]
) -> tuple[FailingCase, Failure]:
    """Return the first function that some pass breaks, as a case."""
    for func, pipeline in runs:
        found = find_case(pipeline, func, **options)
        if found is not None:
            return found
    raise _nothing_to_reduce(", ".join(repr(func.name) for func, _ in runs))


def _nothing_to_reduce(what: str) -> IRKitError:
    return IRKitError(
        f"there is nothing to reduce: every step keeps the meaning of {what}",
        hint="Give the inputs on which it fails with --inputs, or try more with --samples.",
    )


def _of_crash(folder: str) -> tuple[PrimFunc, Pipeline]:
    before, pipeline = crash_pipeline(folder)
    if not isinstance(before, PrimFunc):
        raise IRKitError(f"{folder} is not about a function over loops; only those can be reduced")
    return before, sub_pipeline(pipeline, pipeline.placed, before)
