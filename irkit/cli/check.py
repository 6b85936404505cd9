"""FIXME Run every stage of FILE and say which pass changes what it computes."""

import sys
from collections.abc import Iterable
from typing import Any

import click

from irkit.cli.flags.check_flags import check_options, loop_passes_until, with_check_flags
from irkit.cli.flags.files import FILE, read_module
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import WithPasses, flow_of
from irkit.cli.flags.schedule_flag import SCHEDULE, schedule_from
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
from irkit.phases import Flow, compile
from irkit.transform import Apply, Step, Trace


@click.command("check", cls=WithPasses)
@click.argument("file", type=FILE)
@with_check_flags
@SCHEDULE
@click.option("--all", "everything", is_flag=True, help="Show the steps that changed nothing too.")
@with_isolation_flags
def check_(
    file: str,
    passes: tuple[str, ...],
    disabled: tuple[str, ...],
    stop_after: int | None,
    schedule: str | None,
    everything: bool,
    guard: IsolationPolicy,
    **how: Any,
) -> None:
    """Run every stage of FILE and say which pass changes what it computes.

    FILE holds loop IR (.irs), a model (.onnx) or a trace (.trace). The exit code is 1 if some step
    is not the same, or could not be tried.

    \b
      irkit check kernel.irs
      irkit check kernel.irs --pass '1:my_package.passes:my_pass' --native
    """
    flow = flow_of(passes, disabled)
    with guard.running(note) as apply:
        steps = guard.reporting(_steps(file, flow, stop_after, apply, schedule))
        found = check(steps, **check_options(**how))
    screen = console()
    shown = [each for each in found if everything or each.changed]
    screen.print(verdict_table(shown))
    wrong = [each for each in found if each.status in ("differs", "failed")]
    for each in wrong:
        click.echo(str(each))
    click.echo(_summary(found))
    sys.exit(0 if is_trusted(found) else 1)


def _summary(found: Iterable[Verdict]) -> str:
    counts: dict[str, int] = {}
    for each in found:
        status = each.status if each.changed else "unchanged"
        counts[status] = counts.get(status, 0) + 1
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no steps"


def _steps(
    file: str, flow: Flow, stop_after: int | None, apply: Apply, schedule: str | None
) -> Iterable[Step]:
    if schedule is not None and file.endswith((".onnx", ".trace")):
        raise click.UsageError("--schedule is for loop IR (.irs)")
    if file.endswith(".onnx"):
        loops = flow.loops if stop_after is None else flow.loops.stop_after(stop_after)
        return compile(
            file, graph_pipeline=flow.graph, pipeline=loops, legalize=flow.legalize, apply=apply
        ).trace
    if file.endswith(".trace"):
        return Trace.load(file, (LOOP_LEVEL, GRAPH_LEVEL))
    pipeline = loop_passes_until(flow, stop_after)
    return scheduled_steps(read_module(file), schedule_from(schedule), pipeline, apply=apply)
