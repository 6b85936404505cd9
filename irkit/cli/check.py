"""The verb check of the ``irkit`` command."""

import sys
from collections.abc import Iterable

import click
from rich.progress import Progress, SpinnerColumn, TextColumn

from irkit.cli.flags.check_flags import CheckFlags, with_check_flags
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import WithPasses
from irkit.cli.flags.programs import PROGRAM, ProgramFile
from irkit.cli.flags.progress import verdict_progress
from irkit.cli.flags.prove_flag import PROVE
from irkit.debug import (
    CheckOptions,
    IsolationPolicy,
    StageBounds,
    Verdict,
    bounds_of_steps,
    bounds_table,
    console,
    is_trusted,
    scheduled_steps,
    verdict_table,
    verdicts,
)
from irkit.transform import Apply, Step


@click.command("check", cls=WithPasses)
@click.argument("file", type=PROGRAM)
@with_check_flags
@click.option("--all", "everything", is_flag=True, help="Also show the steps that changed nothing.")
@PROVE
@click.option(
    "--bounds",
    is_flag=True,
    help="Instead prove, for every stage, that no access leaves its buffer, for any input and any "
    "size. Nothing is compared. Needs z3: pip install 'irkit[prove]'.",
)
@with_isolation_flags(users=True)
def check_(
    file: str,
    chosen: CheckFlags,
    everything: bool,
    prove: bool,
    bounds: bool,
    guard: IsolationPolicy,
) -> None:
    """Run the program in FILE before and after each pass, and report which pass changes what it
    computes.

    FILE holds loop IR or a graph as text (.irs), an ONNX model, or a trace, whose recorded steps
    are checked unless options choose other passes. A graph runs with its own weights, and only
    where a pass changed it; kernels that take long to interpret run as native code in a process
    of their own. The exit code is 1 if a step does not compute the same, or could not be run.

    With --bounds, each load, store, view and axis is "in bounds" for all inputs and sizes that the
    signature allows; "out of bounds" for the sizes and indices that are printed (then the exit code
    is 1); "depends on data", if an index was loaded and nothing checks it; or "not known", with the
    reason.

    \b
      irkit check kernel.irs
      irkit check kernel.irs --pass '1:my_package.passes:my_pass' --native
      irkit check kernel.irs --prove
      irkit check kernel.irs --bounds
      irkit check model.onnx --pass 'graph:my_package.passes:my_pass'
    """
    program = chosen.program(file)
    options = CheckOptions(**chosen.options(program), together=program.is_of_kernels, prove=prove)
    found: list[Verdict] = []
    inside: dict[str, str] = {}
    if bounds:
        with guard.running(inside.__setitem__) as apply:
            sys.exit(_check_bounds(guard.reporting(_steps(program, chosen, apply))))
    with (
        guard.running(inside.__setitem__) as apply,
        verdict_progress(many=program.is_of_kernels) as progress,
    ):
        for each in verdicts(guard.reporting(_steps(program, chosen, apply)), options):
            progress(each)
            found.append(each)
    shown = [each for each in found if everything or each.changed]
    console().print(verdict_table(shown, inside))
    for each in found:
        if each.is_wrong:
            click.echo(str(each))
    click.echo(_summary(found))
    sys.exit(0 if is_trusted(found) else 1)


def _check_bounds(steps: Iterable[Step]) -> int:
    """Print what is known about the accesses of each stage; return the exit code."""
    found, said = list[StageBounds](), set[str]()
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), console=console(stderr=True)
    )
    with progress:
        task = progress.add_task("accesses")
        for stage in bounds_of_steps(steps):
            found.append(stage)
            progress.update(task, description=f"accesses of {stage.function}, {stage.stage}")
    console().print(bounds_table(found))
    for stage in found:
        for access in stage.others:
            text = f"{stage.function!r}: {access}"
            if text not in said:
                said.add(text)
                click.echo(f"{stage.stage}: {text}")
    counts: dict[str, int] = {}
    for access in (access for stage in found for access in stage.accesses):
        counts[access.status] = counts.get(access.status, 0) + 1
    click.echo(", ".join(f"{count} {status}" for status, count in counts.items()) or "no accesses")
    return int(any(stage.is_wrong for stage in found))


def _summary(found: Iterable[Verdict]) -> str:
    counts: dict[str, int] = {}
    for each in found:
        status = each.status if each.changed else "unchanged"
        status = f"{status} (proved)" if each.basis == "proved" else status
        counts[status] = counts.get(status, 0) + 1
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no steps"


def _steps(program: ProgramFile, chosen: CheckFlags, apply: Apply) -> Iterable[Step]:
    """Return the steps to check: those that were recorded, unless options choose passes."""
    if program.recorded and not chosen.places_passes:
        return program.recorded
    pipelines = chosen.pipelines(program)
    return scheduled_steps(program.module, chosen.schedule_trace(), pipelines, apply=apply)
