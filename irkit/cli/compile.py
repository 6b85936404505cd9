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
from irkit.cli.flags.files import FILE, NEW_FILE, add_current_directory
from irkit.cli.flags.fixed_inputs import SHAPE, STATE, VALUE, fixed_inputs
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import (
    DISABLE,
    PASS,
    VERIFY,
    PassFlags,
    WithPasses,
)
from irkit.cli.flags.print_flags import PrintFlags, with_print_flags
from irkit.cli.flags.programs import CONVERTER
from irkit.cli.flags.schedule_flag import WORD
from irkit.cli.output.notes import note_not_isolated, note_unused_passes
from irkit.codegen import MOST_BYTES, c_prefix, complete_target
from irkit.core import Target, atomic_write, console
from irkit.debug import IsolationPolicy, pass_table, summarize
from irkit.passes import is_user_pass
from irkit.phases import Flow, ScheduleChoice, compile, load_backend
from irkit.runtime import OUTPUT_KINDS, Model, build_library, parts_of, write_sources, write_wasm
from irkit.tune import Chosen, chosen_schedules


class _ModelFlags(msgspec.Struct, frozen=True):
    """Values of the options about the model, its package and the target."""

    output: str | None
    output_kind: Literal["package", "shared", "static", "object", "c", "wasm"]
    header: str | None
    source_dir: str | None
    name: str | None
    trace: str | None
    shapes: tuple[str, ...]
    values: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    target_texts: tuple[str, ...]
    cpu: str
    features: str
    schedule: ScheduleChoice | None
    machine: Literal["host", "generic"]
    records: str | None
    foreign_records: bool
    memory_limit: int
    tolerance: float
    backends: tuple[str, ...]
    quiet: bool

    @property
    def target(self) -> Target:
        """Return the first target to compile for."""
        return self.targets[0]

    @property
    def targets(self) -> tuple[Target, ...]:
        """Return the targets to compile for; what is not a package is made of C source."""
        texts = self.target_texts
        if len(texts) > 1 and (not self.is_package or self.trace or self.records):
            raise click.UsageError(
                "several targets make one package: leave out --output-kind, --source-dir, --trace "
                "and --records, or compile for each target by itself"
            )
        default = "wasm32" if self.is_wasm else "llvm" if self.is_package else "c"
        features = tuple(filter(None, self.features.split(",")))
        made = tuple(Target(each, cpu=self.cpu, features=features) for each in texts or (default,))
        if not self.is_package and not self.is_wasm and made[0].kind != "c":
            raise click.UsageError(
                'libraries and sources are made of C: leave --target out, or write "c -cpu=..."'
            )
        return made

    @property
    def is_package(self) -> bool:
        return self.output_kind == "package" and self.source_dir is None

    @property
    def is_wasm(self) -> bool:
        return self.output_kind == "wasm"

    @property
    def prefix(self) -> str:
        """Return the prefix of files and functions in C: the name given, or that of the output."""
        path = self.source_dir or self.output or "model"
        stem = Path(os.path.abspath(path)).name.partition(".")[0]
        return self.name or c_prefix(stem.removeprefix("lib"))


_with_model_flags = as_value(
    "wanted",
    _ModelFlags,
    (
        click.option("-o", "--output", type=NEW_FILE, help="The package or library to write."),
        click.option(
            "--output-kind",
            type=click.Choice(("package", *OUTPUT_KINDS, "wasm")),
            default="package",
            show_default=True,
            help="What to write: a package for Python, a library or object file with a C "
            "interface (by the compiler that CC names, or cc), the C file, or a module of "
            "WebAssembly with its plan and weights (by wasm-ld).",
        ),
        click.option("--header", type=NEW_FILE, help="Write the header of the C interface."),
        click.option(
            "--source-dir",
            type=click.Path(file_okay=False),
            help="Write C sources, weights, CMakeLists.txt and an example to this folder.",
        ),
        click.option("--name", help="Prefix of files and functions in C; by default the file's."),
        SHAPE,
        CONVERTER,
        VALUE,
        STATE,
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
            "--target",
            "target_texts",
            multiple=True,
            help='Target to compile for: a name that irkit targets lists, or "llvm -triple=...". '
            "Repeatable: the package then holds code for each, and loading it takes what fits.",
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
            "--records",
            type=FILE,
            metavar="FILE.jsonl",
            help="Use the schedules that won there, on a machine like the target: see irkit tune.",
        ),
        click.option(
            "--foreign-records",
            is_flag=True,
            help="Also use schedules that won on other machines, where there is nothing better.",
        ),
        click.option(
            "--tolerance",
            type=click.FloatRange(0),
            default=0.0,
            show_default=True,
            help="Error, as a part of the largest result of a convolution, up to which faster "
            "algorithms that round more may be used.",
        ),
        click.option(
            "--memory-limit",
            type=click.IntRange(0),
            default=MOST_BYTES,
            metavar="BYTES",
            help="Refuse calls that need more for outputs and intermediate values.",
        ),
        click.option(
            "--backend",
            "backends",
            multiple=True,
            metavar="MODULE:NAME",
            help="Let a backend of your own compute what it claims. Repeatable.",
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
      irkit compile mlp.onnx -o mlp.irkit --target raspberry-pi-4
      irkit compile mlp.onnx -o mlp.irkit --target x86-64-v4 --target x86-64-v2
      irkit compile mlp.onnx --output-kind=shared -o libmlp.so --header mlp.h
      irkit compile mlp.onnx --output-kind=wasm -o mlp.wasm
      irkit compile mlp.onnx --source-dir mlp/
      irkit compile mlp.onnx -o mlp.irkit --backend my_backends:blas
    """
    started = time.perf_counter()
    if wanted.output is None and wanted.source_dir is None:
        raise click.UsageError("Missing option '-o' / '--output', or --source-dir")
    if wanted.output is not None and wanted.source_dir is not None:
        raise click.UsageError("-o and --source-dir exclude each other")
    if wanted.header is not None and (wanted.is_package or wanted.output is None):
        raise click.UsageError("--header is for a library: give --output-kind and -o")
    if wanted.name is not None and wanted.is_package:
        raise click.UsageError("--name is for a library or sources")
    _check_different(model, wanted.output, wanted.trace)
    flow = chosen.flow()
    printing.printer.check(name for each in flow.pipelines for name in each.names)
    has_own_passes = any(is_user_pass(p) for each in flow.pipelines for _, p in each.placed)
    has_own_passes |= bool(wanted.backends)
    with_steps = wanted.trace is not None or printing.wants_steps or has_own_passes
    with ExitStack() as files:  # Both files appear at the end, or neither.
        package = None
        if wanted.is_package and wanted.output is not None:
            package = files.enter_context(atomic_write(wanted.output))
        steps = None if wanted.trace is None else files.enter_context(atomic_write(wanted.trace))
        made = [
            _compiled(model, t, wanted, flow, chosen.verify_each, guard, with_steps)
            for t in wanted.targets
        ]
        compiled = made[0]
        if package is not None:
            compiled.save(package, also=made[1:])
            written = [Path(str(wanted.output))]
        else:
            written = _write_c(compiled, wanted)
        if steps is not None:
            compiled.trace.save(steps)
    if with_steps:
        for step in compiled.trace:
            printing.print_step(step)
        printing.print_summary(compiled.trace)
        note_unused_passes(flow, compiled.trace)
    if not wanted.quiet:
        if with_steps:
            console().print(pass_table(summarize(compiled.trace)))
        _report(compiled, wanted, time.perf_counter() - started)
        for other in made[1:]:
            click.echo(f"  and for {other.target.cpu or other.target.triple}")
        if package is None:
            click.echo(f"wrote {', '.join(map(str, written))}")


def _write_c(model: Model, wanted: _ModelFlags) -> list[Path]:
    """Write the library or the sources of a model."""
    if wanted.source_dir is not None:
        return write_sources(model, wanted.source_dir, name=wanted.prefix)
    assert wanted.output is not None
    kind = wanted.output_kind
    assert kind != "package"
    if kind == "wasm":
        return write_wasm(model, wanted.output)
    return build_library(model, wanted.output, kind, name=wanted.prefix, header=wanted.header)


def _check_different(*paths: str | None) -> None:
    real = [os.path.realpath(path) for path in paths if path is not None]
    if len(set(real)) != len(real):
        raise click.UsageError("the model, the package and the trace must be different files")


def _compiled(
    model: str,
    target: Target,
    wanted: _ModelFlags,
    flow: Flow,
    verify: bool,
    guard: IsolationPolicy,
    with_steps: bool,
) -> Model:
    fixed = fixed_inputs(wanted.shapes, wanted.values, wanted.states)
    samples = [read_npz(file) for file in wanted.inputs]
    if wanted.backends:
        add_current_directory()
    backends = [load_backend(path) for path in wanted.backends]
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
            state=fixed.state,
            graph_pipeline=flow.graph,
            pipeline=flow.loops,
            legalize=flow.for_targets,
            verify=verify,
            keep_trace="now" if with_steps else False,
            progress=progress,
            apply=apply,
            schedule=wanted.schedule,
            machine=wanted.machine,
            records=_chosen(wanted),
            memory_limit=wanted.memory_limit,
            tolerance=wanted.tolerance,
            backends=backends,
        )
        for sample in samples:
            made.run(sample)
        return made


def _chosen(wanted: _ModelFlags) -> Chosen | None:
    """Return the schedules of the records, and say which are not used."""
    if wanted.records is None:
        return None
    target = complete_target(wanted.target)
    chosen = chosen_schedules(wanted.records, target, foreign=wanted.foreign_records)
    for note in chosen.notes:
        click.echo(f"note: {note}", err=True)
    return chosen


def _report(model: Model, wanted: _ModelFlags, seconds: float) -> None:
    output, trace = wanted.output or wanted.source_dir or "", wanted.trace
    size = Path(output).stat().st_size if wanted.output else model.plan.param_bytes
    parts = parts_of(model)
    kernels = sum(len({call.kernel for call in part.plan.calls}) for part in parts)
    click.echo(f"{output}: {kernels} kernels, {size / 1e6:.1f} MB, compiled in {seconds:.1f} s")
    for each in model.specialisations:
        click.echo(f"  compiled for {each}")
    if trace is not None:
        click.echo(f"{trace}: {len(model.trace)} steps; see them with: irkit trace {trace}")
