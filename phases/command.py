"""The verbs compile, run, opt and trace of the ``irkit`` command."""

import difflib
import sys
import time
from pathlib import Path
from typing import Any, cast

import click
import numpy as np
from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.core import IRKitError, Target
from irkit.debug import console, pass_table, summarize
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL, as_dtype, numpy_dtype, parse_module
from irkit.passes import BUILTIN
from irkit.phases.compiling import compile
from irkit.phases.default import DEFAULT
from irkit.phases.lowering import lower
from irkit.runtime import Model, load
from irkit.transform import Pipeline, Registry, Trace, parse_placed

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


def with_user_passes(pipeline: Pipeline, texts: tuple[str, ...]) -> Pipeline:
    """Add the passes of ``--pass`` options to a pipeline.

    Raises: ParseError that points at the column; IRKitError for a name or phase that does not
    exist.
    """
    registry = Registry.of(BUILTIN).with_entry_points()
    pairs = [parse_placed(text) for text in texts]
    return pipeline.with_passes(
        [(phase, registry.find(spec.name).using(**spec.options)) for phase, spec in pairs]
    )


@click.command("compile")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The package.")
@_PASS
@_SHAPE
@click.option("--trace", type=click.Path(dir_okay=False), help="Save what every pass did.")
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
    sys.path.insert(0, "")  # A pass of the user's own stands in the current directory.
    started = time.perf_counter()
    target = Target("llvm", cpu=cpu, features=tuple(filter(None, features.split(","))))
    pipeline = with_user_passes(DEFAULT, passes)
    with _progress(quiet) as bar:
        task = bar.add_task("import", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        compiled = compile(
            model, target=target, shapes=_shapes(shapes), pipeline=pipeline, progress=tell
        )
    compiled.save(output)
    if trace is not None:
        compiled.trace.save(trace)
    if not quiet:
        _report(compiled, output, trace, time.perf_counter() - started)


def _progress(quiet: bool) -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console(), transient=True, disable=quiet)


def _shapes(texts: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, mark, dims = text.rpartition("=")
        parts = [part for part in dims.split(",") if part]
        if not mark or not name or not all(part.isdecimal() for part in parts):
            raise click.BadParameter(f"{text!r} is no shape; write it as NAME=1,3,224,224")
        found[name] = tuple(int(part) for part in parts)
    return found


def _report(model: Model, output: str, trace: str | None, seconds: float) -> None:
    screen = console()
    screen.print(pass_table(summarize(model.trace)))
    size = Path(output).stat().st_size
    kernels = len({call.kernel for call in model.plan.calls})
    screen.print(f"{output}: {kernels} kernels, {size / 1e6:.1f} MB, compiled in {seconds:.1f} s")
    if trace is not None:
        screen.print(f"{trace}: {len(model.trace)} steps; see them with: irkit trace {trace}")


@click.command("run")
@click.argument("package", type=click.Path(exists=True, dir_okay=False))
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="Repeatable.")
@click.option("--random", is_flag=True, help="Make up the inputs that are not given.")
@click.option("--seed", default=0, show_default=True, help="What --random draws from.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Save outputs as .npz.")
def run(package: str, inputs: tuple[str, ...], random: bool, seed: int, output: str | None) -> None:
    """Run the PACKAGE on given or random inputs.

    \b
      irkit run resnet.irkit --input data_0=image.npy -o outputs.npz
      irkit run resnet.irkit --random
    """
    model = load(package)
    feeds = dict(_array(text) for text in inputs)
    if random:
        rng = np.random.default_rng(seed)
        for spec in model.plan.inputs:
            kind = numpy_dtype(as_dtype(spec.dtype))
            feeds.setdefault(spec.name, rng.random(spec.shape).astype(kind))
    try:
        started = time.perf_counter()
        outputs = model.run(feeds)
        seconds = time.perf_counter() - started
    except (TypeError, ValueError) as error:
        raise IRKitError(str(error), hint="--random makes up inputs that are missing.") from error
    for name, array in outputs.items():
        click.echo(f"{name}: {array.dtype}{list(array.shape)} {_range(array)}")
    click.echo(f"ran in {seconds * 1e3:.2f} ms")
    if output is not None:
        with open(output, "wb") as file:
            np.savez(file, allow_pickle=False, **cast(dict[str, Any], outputs))


def _array(text: str) -> tuple[str, NDArray[Any]]:
    name, mark, path = text.partition("=")
    if not mark:
        raise click.BadParameter(f"{text!r} names no file; write it as NAME=FILE.npy")
    try:
        return name, np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise IRKitError(f"cannot read input {name!r} from {path!r}: {error}") from error


def _range(array: NDArray[Any]) -> str:
    if array.size == 0 or array.dtype == np.bool_:
        return ""
    return f"from {array.min():.6g} to {array.max():.6g}"


@click.command("opt")
@click.argument("file", type=click.File("r"))
@click.option("--stop-after", type=int, help="The last phase to run.")
@click.option("-o", "--output", type=click.File("w", lazy=True), default="-", help="Where to.")
@_PASS
def opt(file: Any, stop_after: int | None, output: Any, passes: tuple[str, ...]) -> None:
    """Lower the loop IR in FILE (- for standard input) and print it.

    \b
      irkit opt kernel.irs
      irkit opt kernel.irs --stop-after 1 --pass '1:my_package.passes:my_pass{lanes=8}'
    """
    sys.path.insert(0, "")
    module = parse_module(file.read(), file=file.name)
    lowered = lower(module, pipeline=with_user_passes(DEFAULT, passes), stop_after=stop_after)
    output.write(lowered.script())


@click.command("trace")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--step", type=int, help="Show what one step changed.")
@click.option("--ir", is_flag=True, help="With --step: print the IR after it instead.")
def trace(file: str, step: int | None, ir: bool) -> None:
    """Show what every pass did, from the trace in FILE.

    \b
      irkit trace squeezenet.trace
      irkit trace squeezenet.trace --step 12
    """
    loaded = Trace.load(file, (LOOP_LEVEL, GRAPH_LEVEL))
    if step is None:
        for each in loaded:
            mark = "*" if each.changed else " "
            where = each.function or "module"
            click.echo(f"{each.index:5} {mark} {each.phase} {each.pass_text:40} {where}")
        return
    if not 0 <= step < len(loaded):
        raise IRKitError(f"{file} has steps 0 to {len(loaded) - 1}, and no step {step}")
    chosen = loaded[step]
    after = chosen.after.script()
    if ir:
        click.echo(after, nl=False)
        return
    before = chosen.before.script().splitlines(keepends=True)
    lines = difflib.unified_diff(before, after.splitlines(keepends=True), "before", "after")
    click.echo("".join(lines) or f"{chosen.name} changed nothing\n", nl=False)
