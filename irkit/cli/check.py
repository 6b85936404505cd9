"""The verb check of the ``irkit`` command."""

import sys
from collections.abc import Iterable

import click

from irkit.cli.flags.check_flags import CheckFlags, with_check_flags
from irkit.cli.flags.files import FILE, read_module
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import WithPasses
from irkit.cli.notes import note
from irkit.debug import (
    IsolationPolicy,
    Verdict,
    check,
    console,
    is_trusted,
    scheduled_steps,
    verdict_table,
)
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.phases import compile
from irkit.transform import Apply, Step, Trace


@click.command("check", cls=WithPasses)
@click.argument("file", type=FILE)
@with_check_flags
@click.option("--all", "everything", is_flag=True, help="Also show the steps that changed nothing.")
@with_isolation_flags
def check_(file: str, chosen: CheckFlags, everything: bool, guard: IsolationPolicy) -> None:
    """Run every stage of FILE and report which pass changes what it computes.

    FILE holds loop IR (.irs), a model (.onnx) or a trace (.trace). The exit code is 1 if a step
    does not compute the same, or could not be run.

    \b
      irkit check kernel.irs
      irkit check kernel.irs --pass '1:my_package.passes:my_pass' --native
    """
    with guard.running(note) as apply:
        steps = guard.reporting(_steps(file, chosen, apply))
        verdicts = check(steps, **chosen.options())
    screen = console()
    shown = [each for each in verdicts if everything or each.changed]
    screen.print(verdict_table(shown))
    wrong = [each for each in verdicts if each.is_wrong]
    for each in wrong:
        click.echo(str(each))
    click.echo(_summary(verdicts))
    sys.exit(0 if is_trusted(verdicts) else 1)


def _summary(verdicts: Iterable[Verdict]) -> str:
    counts: dict[str, int] = {}
    for each in verdicts:
        status = each.status if each.changed else "unchanged"
        counts[status] = counts.get(status, 0) + 1
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no steps"


def _steps(file: str, chosen: CheckFlags, apply: Apply) -> Iterable[Step]:
    if chosen.schedule is not None and file.endswith((".onnx", ".trace")):
        raise click.UsageError("--schedule is for loop IR (.irs)")
    flow = chosen.flow()
    if file.endswith(".onnx"):
        return compile(
            file,
            graph_pipeline=flow.graph,
            pipeline=flow.loops,
            legalize=flow.legalize,
            apply=apply,
        ).trace
    if file.endswith(".trace"):
        return Trace.load(file, (LOOP_LEVEL, GRAPH_LEVEL))
    module = read_module(file)
    return scheduled_steps(module, chosen.schedule_trace(), chosen.loop_passes(), apply=apply)
