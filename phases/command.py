"""The verbs compile and opt of the ``irkit`` command."""

import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.core import IRKitError, ParseError, Target, replacing
from irkit.debug import console, pass_table, summarize
from irkit.ir import parse_module
from irkit.passes import BUILTIN
from irkit.phases.compiling import compile
from irkit.phases.default import DEFAULT
from irkit.phases.lowering import lower
from irkit.runtime import Model
from irkit.transform import PassSpec, Pipeline, Registry, parse_placed

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
