"""Programs to run passes on: ONNX models, traces and IR text, told apart by what is in the file."""

import codecs
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import click
import msgspec

from irkit.cli.flags.files import add_current_directory, read_text
from irkit.cli.flags.fixed_inputs import FixedInputs
from irkit.core import FormatError, Function, IRKitError, IRModule
from irkit.graph import GRAPH_LEVEL, GraphFunc, constants_of, parse_module
from irkit.ir import LOOP_LEVEL
from irkit.phases import in_place
from irkit.transform import IR, Step, Trace

PROGRAM = click.Path(exists=True, dir_okay=False)


def _load_converters(
    ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    if paths:
        from irkit.frontend.onnx import load_converter

        add_current_directory()
        for path in paths:
            load_converter(path)
    return paths


_CONVERTER = partial(
    click.option,
    "--converter",
    "converters",
    multiple=True,
    metavar="MODULE:FUNCTION",
    callback=_load_converters,
    help="Import a registered converter for an ONNX operator of your own. Repeatable.",
)
CONVERTER = _CONVERTER(expose_value=False)
CONVERTERS = _CONVERTER()
"""The same option for a verb that imports models in another process, which imports them too."""
MANY = 8
NOTHING_FIXED = FixedInputs()
_HEAD = 4096
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TRACE = b"irkit-trace "
_POINTER = "version https://git-lfs"


class ProgramFile(msgspec.Struct, frozen=True):
    """A program to run passes on; ``recorded`` are the steps of a trace, which ran them before.

    ``damage`` says from where on the file of the trace could not be read.
    """

    module: IRModule
    recorded: tuple[Step, ...] = ()
    damage: str = ""

    @property
    def is_of_graphs(self) -> bool:
        """Return True if graph passes have something to run on."""
        return any(isinstance(func, GraphFunc) for func in self.module.functions.values())

    @property
    def is_of_kernels(self) -> bool:
        """Return True for a model, and for a module of as many functions as one has."""
        return self.is_of_graphs or len(self.module.functions) > MANY


def read_program(file: str, fixed: FixedInputs = NOTHING_FIXED) -> ProgramFile:
    """Read an ONNX model, a trace or IR text from a file, or IR text from standard input if that is
    ``-``.

    Raises: IRKitError, with the remedy, if it is something else, or damaged, or if inputs are
    ``fixed`` of anything but a model.
    """
    kind = "text" if file == "-" else kind_of(file)
    if fixed and kind != "model":
        option = "--shape" if fixed.shapes else "--value" if fixed.values else "--state"
        raise IRKitError(
            f"{option} is for ONNX models, and {file} is {_NAMES[kind]}",
            hint="--dim fixes a symbolic dimension; state is an attribute in IR text.",
        )
    match kind:
        case "model":
            return ProgramFile(_imported(file, fixed))
        case "trace":
            return _of_trace(load_trace(file))
        case _:
            text, title = read_text(file)
            return ProgramFile(parse_module(text, file=title))


_NAMES = {"text": "IR text", "trace": "a trace", "model": "a model"}


def load_trace(file: str) -> Trace:
    """Read a trace; what is damaged about it is said on standard error."""
    loaded = Trace.load(file, (LOOP_LEVEL, GRAPH_LEVEL))
    if loaded.damage:
        click.echo(f"note: {loaded.damage}", err=True)
    return loaded


def kind_of(file: str) -> str:
    """Return what a file holds; its name decides only where the content says nothing.

    Raises: FormatError for what has no IR.
    """
    with Path(file).open("rb") as opened:
        head = opened.read(_HEAD)
    suffix = Path(file).suffix.lower()
    if head.startswith(_TRACE):
        return "trace"
    if head.startswith(b"PK\x03\x04"):
        raise _archive(file)
    text = _text_of(head)
    if text is None:
        return "text" if suffix == ".irs" and not head.startswith(b"\x08") else "model"
    if text.startswith(_POINTER):
        raise FormatError(
            f"{file} is a pointer of Git LFS, not the file itself", hint="Run: git lfs pull"
        )
    if suffix == ".py":
        raise FormatError(
            f"{file} is a Python script", hint=f"See what its passes do with: irkit inspect {file}"
        )
    is_ir = re.search(r"^def ", text, re.MULTILINE) is not None
    if suffix in (".onnx", ".trace") and not is_ir:
        return suffix.removeprefix(".").replace("onnx", "model")
    return "text"


def _text_of(head: bytes) -> str | None:
    """Return the beginning of a file as text; None if it is not text."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text


def _archive(file: str) -> FormatError:
    try:
        with zipfile.ZipFile(file) as archive:
            is_package = "manifest.json" in archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        is_package = False
    if not is_package:
        return FormatError(f"{file} is a zip file; expected an ONNX model, a trace or IR text")
    return FormatError(
        f"{file} is a package of native code, which passes cannot run on",
        hint="Give the model, or the trace of its compilation: "
        "irkit compile MODEL -o PACKAGE --trace FILE.trace",
    )


def _imported(file: str, fixed: FixedInputs) -> IRModule:
    try:
        # Other programs need no ONNX, which takes 60 ms to load.
        from irkit.frontend.onnx import import_onnx

        module = import_onnx(file, shapes=fixed.shapes, values=fixed.values)
        return in_place(module, fixed.state)
    except FormatError as error:
        if not error.hint and "cannot be read as an ONNX model" in error.message:
            error.hint = "Expected an ONNX model, a trace of irkit, or IR text."
        raise


def _of_trace(trace: Trace) -> ProgramFile:
    """Return the program that a trace begins with.

    Traces hold only the digests of large constants. Graph passes need the constants themselves, so
    without them the program is the loop functions, as they were before their first step.
    """
    first = dict(_first_seen(trace.steps))
    graphs = [func for func in first.values() if isinstance(func, GraphFunc)]
    lacking = [c for func in graphs for c in constants_of(func).values() if c.is_absent]
    if not lacking:
        module = IRModule(_at_the_start(trace.steps, first))
        return ProgramFile(module, trace.steps, trace.damage)
    loops = {name: func for name, func in first.items() if not isinstance(func, GraphFunc)}
    return ProgramFile(IRModule(loops), trace.steps, trace.damage)


def _first_seen(steps: Iterable[Step]) -> Iterator[tuple[str, Function]]:
    """Yield each function as it was when a step first was about it."""
    seen = set[str]()
    for step in steps:
        for ir in (step.before, step.after):
            for name, func in _functions(ir).items():
                if name not in seen:
                    seen.add(name)
                    yield name, func


def _functions(ir: IR) -> Mapping[str, Function]:
    return ir.functions if isinstance(ir, IRModule) else {ir.name: ir}


def _at_the_start(steps: Sequence[Step], first: Mapping[str, Function]) -> dict[str, Function]:
    """Return the functions that were there before the first step: those that a step over the whole
    module was given, or all if there is no such step."""
    whole = next((step.before for step in steps if isinstance(step.before, IRModule)), None)
    names = first if whole is None else whole.functions
    return {name: first[name] for name in names}
