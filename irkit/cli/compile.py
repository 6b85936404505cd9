"""The verb compile of the ``irkit`` command."""

import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import click
import msgspec
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.cli.flags.check_flags import read_npz
from irkit.cli.flags.files import FILE, NEW_FILE
from irkit.cli.flags.fixed_inputs import SHAPE, VALUE, fixed_inputs
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import DISABLE, PASS, VERIFY, PassFlags, WithPasses
from irkit.cli.flags.print_flags import PrintFlags, with_print_flags
from irkit.cli.flags.programs import CONVERTER
from irkit.cli.flags.schedule_flag import WORD
from irkit.cli.notes import note_not_isolated, note_unused_passes
from irkit.codegen import MOST_BYTES
from irkit.core import Target, atomic_write
from irkit.debug import IsolationPolicy, console, pass_table, summarize
from irkit.phases import Flow, ScheduleChoice, compile
from irkit.runtime import Model, parts_of


class _ModelFlags(msgspec.Struct, frozen=True):
    """Values of the options about the model, its package and the target."""

    output: str
    trace: str | None
    shapes: tuple[str, ...]
    values: tuple[str, ...]
    inputs: tuple[str, ...]
    cpu: str
    features: str
    schedule: ScheduleChoice | None
    machine: Literal["host", "generic"]
    memory_limit: int
    quiet: bool

    @property
    def target(self) -> Target:
        """Return the target to compile for."""
        return Target("llvm", cpu=self.cpu, features=tuple(filter(None, self.features.split(","))))


_with_model_flags = as_value(
    "wanted",
    _ModelFlags,
    (
        click.option("-o", "--output", required=True, type=NEW_FILE, help="The package to write."),
        SHAPE,
        CONVERTER,
        VALUE,
        click.option(
            "--inputs",
            multiple=True,
            type=FILE,
            metavar="FILE.npz",
            help="Compile a model that leaves shapes open for these inputs. Repeatable.",
        ),
        click.option(
            "--trace",
            type=NEW_FILE,
            help="Save what every pass did, for irkit trace, diff and inspect.",
        ),
        click.option(
            "--cpu", default="", help="Processor to compile for; this machine's by default."
        ),
        click.option("--features", default="", help="LLVM features, such as +avx2,-avx512f."),
        WORD,
        click.option(
            "--machine",
            type=click.Choice(("host", "generic")),
            default="host",
            show_default=True,
            help="The sizes that schedules are chosen by: those of the target, or the same "
            "everywhere.",
        ),
        click.option(
            "--memory-limit",
            type=click.IntRange(0),
            default=MOST_BYTES,
            metavar="BYTES",
            help="Refuse calls that need more for outputs and intermediate values.",
        ),
        click.option("--quiet", is_flag=True, help="Print only errors."),
    ),
)


@click.command("compile", cls=WithPasses)
@click.argument("model", type=FILE)
@_with_model_flags
@as_value("chosen", PassFlags, (PASS, DISABLE, VERIFY))
@with_isolation_flags(users=False)
@with_print_flags
def compile_(
    model: str,
    wanted: _ModelFlags,
    chosen: PassFlags,
    guard: IsolationPolicy,
    printing: PrintFlags,
) -> None:
    """Compile the ONNX file MODEL to a package of native code.

    \b
      irkit compile resnet.onnx -o resnet.irkit
      irkit compile mlp.onnx -o mlp.irkit --shape x=1,784 --pass '1:simplify'
      irkit compile upscale.onnx -o upscale.irkit --value sizes=1,3,448,448
    """
    started = time.perf_counter()
    _check_different(model, wanted.output, wanted.trace)
    flow = chosen.flow()
    printing.printer.check(name for each in flow.pipelines for name in each.names)
    with ExitStack() as files:  # Both files appear at the end, or neither.
        package = files.enter_context(atomic_write(wanted.output))
        steps = None if wanted.trace is None else files.enter_context(atomic_write(wanted.trace))
        compiled = _compiled(model, wanted, flow, chosen.verify_each, guard)
        compiled.save(package)
        if steps is not None:
            compiled.trace.save(steps)
    for step in compiled.trace:
        printing.print_step(step)
    printing.print_summary(compiled.trace)
    note_unused_passes(flow, compiled.trace)
    if not wanted.quiet:
        _report(compiled, wanted, time.perf_counter() - started)


def _check_different(*paths: str | None) -> None:
    real = [os.path.realpath(path) for path in paths if path is not None]
    if len(set(real)) != len(real):
        raise click.UsageError("the model, the package and the trace must be different files")


def _compiled(
    model: str, wanted: _ModelFlags, flow: Flow, verify: bool, guard: IsolationPolicy
) -> Model:
    target, fixed = wanted.target, fixed_inputs(wanted.shapes, wanted.values)
    samples = [read_npz(file) for file in wanted.inputs]
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    silent = wanted.quiet or not screen.is_terminal
    with (
        guard.running(note_not_isolated) as apply,
        Progress(*columns, console=screen, transient=True, disable=silent) as bar,
    ):
        task = bar.add_task("import", total=None)

        def progress(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        made = compile(
            model,
            target=target,
            shapes=fixed.shapes,
            values=fixed.values,
            graph_pipeline=flow.graph,
            pipeline=flow.loops,
            legalize=flow.legalize,
            verify=verify,
            progress=progress,
            apply=apply,
            schedule=wanted.schedule,
            machine=wanted.machine,
            memory_limit=wanted.memory_limit,
        )
        for sample in samples:
            made.run(sample)
        return made


def _report(model: Model, wanted: _ModelFlags, seconds: float) -> None:
    console().print(pass_table(summarize(model.trace)))
    output, trace = wanted.output, wanted.trace
    size = Path(output).stat().st_size
    parts = parts_of(model)
    kernels = sum(len({call.kernel for call in part.plan.calls}) for part in parts)
    click.echo(f"{output}: {kernels} kernels, {size / 1e6:.1f} MB, compiled in {seconds:.1f} s")
    for each in model.specialisations:
        click.echo(f"  compiled for {each}")
    if trace is not None:
        click.echo(f"{trace}: {len(model.trace)} steps; see them with: irkit trace {trace}")
