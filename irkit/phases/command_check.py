"""The verbs check and bisect of the ``irkit`` command."""

import sys
import zipfile
from collections.abc import Iterable
from typing import Any

import click
import numpy as np

from irkit.core import IRKitError
from irkit.debug import (
    Guard,
    Verdict,
    bisect,
    check,
    console,
    is_trusted,
    scheduled_steps,
    verdict_table,
    with_guard,
)
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.phases.command_opt import read_module
from irkit.phases.command_options import (
    DISABLE,
    PASS,
    SCHEDULE,
    WithPasses,
    flow_of,
    note,
    schedule_from,
)
from irkit.phases.compiling import compile
from irkit.phases.placing import Flow
from irkit.transform import Apply, Pipeline, Step, Trace

_FILE = click.Path(exists=True, dir_okay=False)
_OPTIONS = (
    PASS,
    DISABLE,
    click.option("--stop-after", type=int, metavar="PHASE", help="The last phase to run: 0 to 3."),
    click.option(
        "--inputs", "npz", type=_FILE, help="Arrays by parameter name, as .npz; others are made up."
    ),
    click.option(
        "--dim", "dims", multiple=True, metavar="NAME=5", help="Fix a symbolic dimension."
    ),
    click.option("--seed", default=0, show_default=True, help="What inputs are drawn from."),
    click.option(
        "--samples",
        default=4,
        type=click.IntRange(1, 1000),
        show_default=True,
        help="How many sets of inputs.",
    ),
    click.option(
        "--native/--no-native",
        default=None,
        help="Run every stage as native code too, or never.  [default: what would take the "
        "interpreter too long]",
    ),
)


def with_check_options(command: Any) -> Any:
    """Give a command the options that say which passes run, and on which inputs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("check", cls=WithPasses)
@click.argument("file", type=_FILE)
@with_check_options
@SCHEDULE
@click.option("--all", "everything", is_flag=True, help="Show the steps that changed nothing too.")
@with_guard
def check_(
    file: str,
    passes: tuple[str, ...],
    disabled: tuple[str, ...],
    stop_after: int | None,
    schedule: str | None,
    everything: bool,
    guard: Guard,
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


@click.command("bisect", cls=WithPasses)
@click.argument("file", type=_FILE)
@with_check_options
@SCHEDULE
@with_guard
def bisect_(
    file: str,
    passes: tuple[str, ...],
    disabled: tuple[str, ...],
    stop_after: int | None,
    schedule: str | None,
    guard: Guard,
    **how: Any,
) -> None:
    """Find the pass that breaks the loop IR in FILE, and the rewrite inside it; or the step of its
    schedule.

    The exit code is 1 if there is one.

    \b
      irkit bisect kernel.irs --pass '2:my_package.passes:my_pass'
    """
    pipeline = stopped(flow_of(passes, disabled), stop_after)
    given = check_options(**how)
    with guard.running(note) as apply:
        found = bisect(
            pipeline,
            read_module(file),
            **given,
            apply=apply,
            failed=guard.report,
            schedule=schedule_from(schedule),
        )
    click.echo(str(found) if found is not None else "every step keeps the meaning")
    sys.exit(0 if found is None else 1)


def stopped(flow: Flow, stop_after: int | None) -> Pipeline:
    """Give the passes over loops, up to a phase."""
    return flow.lowering if stop_after is None else flow.loops.stop_after(stop_after)


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
    pipeline = stopped(flow, stop_after)
    return scheduled_steps(read_module(file), schedule_from(schedule), pipeline, apply=apply)


def check_options(
    npz: str | None, dims: tuple[str, ...], seed: int, samples: int, native: bool | None
) -> dict[str, Any]:
    """Read what :func:`with_check_options` gives as the options of :func:`irkit.debug.check`."""
    return {
        "inputs": _arrays(npz) if npz is not None else None,
        "dims": dict(_dim(text) for text in dims),
        "seed": seed,
        "samples": samples,
        "native": native,
    }


def _arrays(path: str) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path):  # An .npy file would be one array without a name.
            pass
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise IRKitError(f"cannot read inputs from {path!r}: {error}") from error


def _dim(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name or not size.isdecimal():
        raise click.BadParameter(f"{text!r} is no dimension; write it as NAME=5")
    return name, int(size)
