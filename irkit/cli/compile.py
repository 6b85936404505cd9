"""The verb compile of the ``irkit`` command."""

import os
import time
from contextlib import ExitStack
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.cli.flags.files import NEW_FILE
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import DISABLE, PASS, VERIFY, WithPasses, flow_of
from irkit.cli.flags.print_flags import PrintFlags, with_print_flags
from irkit.cli.notes import note, note_unused_passes
from irkit.core import Target, atomic_write
from irkit.debug import IsolationPolicy, console, pass_table, summarize
from irkit.phases import Flow, compile
from irkit.runtime import Model

_SHAPE = click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=1,3,224,224",
    help="Fix the shape of an input. Repeatable.",
)
_FILE = click.Path(exists=True, dir_okay=False)


@click.command("compile", cls=WithPasses)
@click.argument("model", type=_FILE)
@click.option("-o", "--output", required=True, type=NEW_FILE, help="The package.")
@PASS
@DISABLE
@_SHAPE
@click.option("--trace", type=NEW_FILE, help="Save what every pass did.")
@click.option("--cpu", default="", help="Processor to compile for; this machine's by default.")
@click.option("--features", default="", help="LLVM features, such as +avx2,-avx512f.")
@click.option("--quiet", is_flag=True, help="Print only errors.")
@VERIFY
@with_isolation_flags
@with_print_flags
def compile_(
    model: str,
    output: str,
    passes: tuple[str, ...],
    disabled: tuple[str, ...],
    shapes: tuple[str, ...],
    trace: str | None,
    cpu: str,
    features: str,
    quiet: bool,
    verify_each: bool,
    guard: IsolationPolicy,
    switches: PrintFlags,
) -> None:
    """Compile the ONNX file MODEL to a package of native code.

    \b
      irkit compile resnet.onnx -o resnet.irkit
      irkit compile mlp.onnx -o mlp.irkit --shape x=1,784 --pass '1:simplify'
    """
    started = time.perf_counter()
    _check_different(model, output, trace)
    target = Target("llvm", cpu=cpu, features=tuple(filter(None, features.split(","))))
    flow = flow_of(passes, disabled)
    switches.printing.check(name for each in flow.pipelines for name in each.names)
    with ExitStack() as files:  # Both files appear at the end, or neither.
        package = files.enter_context(atomic_write(output))
        steps = None if trace is None else files.enter_context(atomic_write(trace))
        compiled = _compiled(model, target, _shapes(shapes), flow, quiet, verify_each, guard)
        compiled.save(package)
        if steps is not None:
            compiled.trace.save(steps)
    for step in compiled.trace:
        switches.see(step)
    switches.finish(compiled.trace)
    note_unused_passes(flow, compiled.trace)
    if not quiet:
        _report(compiled, output, trace, time.perf_counter() - started)


def _check_different(*paths: str | None) -> None:
    real = [os.path.realpath(path) for path in paths if path is not None]
    if len(set(real)) != len(real):
        raise click.UsageError("the model, the package and the trace must be different files")


def _compiled(
    model: str,
    target: Target,
    shapes: dict[str, tuple[int, ...]],
    flow: Flow,
    quiet: bool,
    verify: bool,
    guard: IsolationPolicy,
) -> Model:
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    silent = quiet or not screen.is_terminal
    with (
        guard.running(note) as apply,
        Progress(*columns, console=screen, transient=True, disable=silent) as bar,
    ):
        task = bar.add_task("import", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        return compile(
            model,
            target=target,
            shapes=shapes,
            graph_pipeline=flow.graph,
            pipeline=flow.loops,
            legalize=flow.legalize,
            verify=verify,
            progress=tell,
            apply=apply,
        )


def _shapes(texts: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, _, dims = text.rpartition("=")
        parts = dims.split(",") if dims else []
        if not name or not all(part.isdecimal() and len(part) < 19 for part in parts):
            raise click.BadParameter(
                f"{text!r} is no shape; write it as NAME=1,3,224,224", param_hint="'--shape'"
            )
        if name in found:
            raise click.BadParameter(f"{name!r} has two shapes", param_hint="'--shape'")
        found[name] = tuple(int(part) for part in parts)
    return found


def _report(model: Model, output: str, trace: str | None, seconds: float) -> None:
    console().print(pass_table(summarize(model.trace)))
    size = Path(output).stat().st_size
    kernels = len({call.kernel for call in model.plan.calls})
    click.echo(f"{output}: {kernels} kernels, {size / 1e6:.1f} MB, compiled in {seconds:.1f} s")
    if trace is not None:
        click.echo(f"{trace}: {len(model.trace)} steps; see them with: irkit trace {trace}")
