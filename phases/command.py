"""The verbs compile, run, opt and trace of the ``irkit`` command."""

import difflib
import os
import sys
import time
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.codegen import TensorSpec
from irkit.core import InputError, IRKitError, ParseError, Target, replacing
from irkit.debug import console, pass_table, summarize
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL, as_dtype, numpy_dtype, parse_module
from irkit.passes import BUILTIN
from irkit.phases.compiling import compile
from irkit.phases.default import DEFAULT
from irkit.phases.lowering import lower
from irkit.runtime import Model, load
from irkit.transform import PassSpec, Pipeline, Registry, Trace, parse_placed

_QUOTE = "put quotes around it, a shell takes braces for its own."
_PASS = click.option(
    "--pass",
    "passes",
    multiple=True,
    metavar="'PHASE:NAME{OPTIONS}'",
    help="Run a pass at the end of a phase: a name, or module:function. Quote it. Repeatable.",
)
_SHAPE = click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=1,3,224,224",
    help="Fix the shape of an input. Repeatable.",
)
_FILE = click.Path(exists=True, dir_okay=False)
_NEW_FILE = click.Path(dir_okay=False)


class _WithPasses(click.Command):
    """A verb with ``--pass``; it knows what an unquoted one looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "--pass" in given and "unexpected extra argument" in error.message:
                message = f"{error.message}\n  If it belongs to --pass: {_QUOTE}"
                raise click.UsageError(message, ctx) from None
            raise


def with_user_passes(pipeline: Pipeline, texts: tuple[str, ...]) -> Pipeline:
    """Add the passes of ``--pass`` options to a pipeline.

    Raises: ParseError that points at the column; IRKitError for a name or phase that does not
    exist.
    """
    pairs = [_placed(text) for text in texts]
    if any(":" in spec.name for _, spec in pairs) and "" not in sys.path:
        sys.path.insert(0, "")  # A pass of the user's own stands in the current directory.
    registry = Registry.of(BUILTIN).with_entry_points()
    return pipeline.with_passes([(phase, registry.resolve(spec)) for phase, spec in pairs])


def _placed(text: str) -> tuple[int, PassSpec]:
    try:
        return parse_placed(text)
    except ParseError as error:
        message = f"in --pass {text!r}: {error.message}"
        raise ParseError(
            message, hint=f"If that is not what you wrote: {_QUOTE}", span=error.span
        ) from None


@click.command("compile", cls=_WithPasses)
@click.argument("model", type=_FILE)
@click.option("-o", "--output", required=True, type=_NEW_FILE, help="The package.")
@_PASS
@_SHAPE
@click.option("--trace", type=_NEW_FILE, help="Save what every pass did.")
@click.option("--cpu", default="", help="Processor to compile for; this machine's by default.")
@click.option("--features", default="", help="LLVM features, such as +avx2,-avx512f.")
@click.option("--quiet", is_flag=True, help="Print only errors.")
def compile_(
    model: str,
    output: str,
    passes: tuple[str, ...],
    shapes: tuple[str, ...],
    trace: str | None,
    cpu: str,
    features: str,
    quiet: bool,
) -> None:
    """Compile the ONNX file MODEL to a package of native code.

    \b
      irkit compile resnet.onnx -o resnet.irkit
      irkit compile mlp.onnx -o mlp.irkit --shape x=1,784 --pass '1:simplify'
    """
    started = time.perf_counter()
    _check_different(model, output, trace)
    target = Target("llvm", cpu=cpu, features=tuple(filter(None, features.split(","))))
    pipeline = with_user_passes(DEFAULT, passes)
    with ExitStack() as files:  # Both files appear at the end, or neither.
        package = files.enter_context(replacing(output))
        steps = None if trace is None else files.enter_context(replacing(trace))
        compiled = _compiled(model, target, _shapes(shapes), pipeline, quiet)
        compiled.save(package)
        if steps is not None:
            compiled.trace.save(steps)
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
    pipeline: Pipeline,
    quiet: bool,
) -> Model:
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    silent = quiet or not screen.is_terminal
    with Progress(*columns, console=screen, transient=True, disable=silent) as bar:
        task = bar.add_task("import", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        return compile(model, target=target, shapes=shapes, pipeline=pipeline, progress=tell)


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


@click.command("run")
@click.argument("package", type=_FILE)
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="Repeatable.")
@click.option(
    "--random",
    is_flag=True,
    help="Make up the inputs that are not given: floats from 0 to 1, integers 0.",
)
@click.option("--seed", default=0, show_default=True, help="What --random draws from.")
@click.option("-o", "--output", type=_NEW_FILE, help="Save outputs as .npz.")
def run(package: str, inputs: tuple[str, ...], random: bool, seed: int, output: str | None) -> None:
    """Run the PACKAGE on given or random inputs.

    \b
      irkit run resnet.irkit --input data_0=image.npy -o outputs.npz
      irkit run resnet.irkit --random
    """
    model = load(package)
    feeds = _feeds(inputs)
    if random:
        rng = np.random.default_rng(abs(seed))
        feeds = {spec.name: _made_up(spec, rng) for spec in model.plan.inputs} | feeds
    started = time.perf_counter()
    try:
        outputs = model.run(feeds)
    except InputError as error:
        hint = "Give it with --input NAME=FILE.npy; --random makes up what is missing."
        raise InputError(error.message, hint=hint) from None
    seconds = time.perf_counter() - started
    if output is not None:
        _save_arrays(output, outputs)
    for name, array in outputs.items():
        click.echo(f"{name}: {array.dtype}{list(array.shape)} {_range(array)}".rstrip())
    click.echo(f"ran in {seconds * 1e3:.2f} ms")


def _feeds(texts: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for text in texts:
        name, _, path = text.rpartition("=")
        if not name or not path:
            raise click.BadParameter(
                f"{text!r} names no input and file; write it as NAME=FILE.npy",
                param_hint="'--input'",
            )
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="'--input'")
        found[name] = _array(name, path)
    return found


def _array(name: str, path: str) -> NDArray[Any]:
    try:
        with open(path, "rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise IRKitError(f"input {name!r}: cannot read {path!r}: {error.strerror}") from None
    except (ValueError, EOFError, OverflowError, MemoryError, TypeError) as error:
        raise IRKitError(
            f"input {name!r}: {path!r} is no .npy file of numbers: {error}",
            hint="numpy.save writes one.",
        ) from None


def _made_up(spec: TensorSpec, rng: np.random.Generator) -> NDArray[Any]:
    dtype = as_dtype(spec.dtype)
    if dtype.is_float:
        return rng.random(spec.shape).astype(numpy_dtype(dtype))
    return np.zeros(spec.shape, numpy_dtype(dtype))


def _save_arrays(path: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write an .npz file; numpy.savez does not take every name."""
    with replacing(path) as made, zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _range(array: NDArray[Any]) -> str:
    if array.size == 0 or array.dtype == np.bool_:
        return ""
    return f"from {float(array.min()):.6g} to {float(array.max()):.6g}"


@click.command("opt", cls=_WithPasses)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--stop-after", type=int, metavar="PHASE", help="The last phase to run.")
@click.option("-o", "--output", type=_NEW_FILE, help="Write there and not to standard output.")
@_PASS
def opt(file: str, stop_after: int | None, output: str | None, passes: tuple[str, ...]) -> None:
    """Lower the loop IR in FILE (- for standard input) and print it.

    \b
      irkit opt kernel.irs
      irkit opt kernel.irs --stop-after 1 --pass '1:my_package.passes:my_pass{lanes=8}'
    """
    pipeline = with_user_passes(DEFAULT, passes)
    title = "<stdin>" if file == "-" else file
    module = parse_module(_text(file, title), file=title)
    lowered = lower(module, pipeline=pipeline, stop_after=stop_after).script()
    if output is None or output == "-":
        click.echo(lowered, nl=False)
        return
    with replacing(output) as made:
        made.write_text(lowered, encoding="utf-8")


def _text(file: str, title: str) -> str:
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise IRKitError(f"{title} is no text: {error}", hint="IR text is UTF-8.") from None


@click.command("trace")
@click.argument("file", type=_FILE)
@click.option("--step", type=int, metavar="NUMBER", help="Show what one step changed.")
@click.option("--ir", is_flag=True, help="With --step: print the IR after it instead.")
def trace(file: str, step: int | None, ir: bool) -> None:
    """Show what every pass did, from the trace in FILE; a star marks what changed something.

    \b
      irkit trace squeezenet.trace
      irkit trace squeezenet.trace --step 12
    """
    if ir and step is None:
        raise click.UsageError("--ir needs --step")
    loaded = Trace.load(file, (LOOP_LEVEL, GRAPH_LEVEL))
    if step is None:
        click.echo("".join(_listed(loaded)), nl=False)
        return
    if not 0 <= step < len(loaded):
        raise IRKitError(f"{file} has {len(loaded)} steps, numbered from 0; there is no {step}")
    before, after = loaded[step].scripts()
    if ir:
        click.echo(after, nl=False)
        return
    sides = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    lines = difflib.unified_diff(*sides, "before", "after")
    click.echo("".join(lines) or f"{loaded[step].name} changed nothing\n", nl=False)


def _listed(steps: Trace) -> list[str]:
    return [
        f"{step.index:5} {'*' if step.changed else ' '} "
        f"{'graph' if step.level is GRAPH_LEVEL else step.phase!s:5} {step.pass_text:40} "
        f"{step.function or 'the module'}\n"
        for step in steps
    ]
