"""Samples as text: a TOML file that people can read, and that runs without its generator.

A program is written as it prints, the passes and the schedule as ``irkit opt`` and
``ScheduleTrace.from_json`` read them, arrays as numbers that give back the same bits. ONNX models
are bytes, written as base64.
"""

import base64
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from irkit.core import FormatError, Function, IRKitError, IRModule
from irkit.debug import NO_SCHEDULE, InputKind, InputSet
from irkit.fuzz.generators.sample import KINDS, Array, Numbered, Program, Sample, Tolerance
from irkit.graph import GraphFunc, constants_of, parse_module as parse_graphs
from irkit.ir import PrimFunc, array_type, parse
from irkit.passes import BUILTIN
from irkit.phases import GRAPH, pipeline_for
from irkit.schedule import ScheduleTrace
from irkit.transform import Pipeline, Registry, functions_of, parse_pipeline

VERSION = 1
LARGEST = 16 << 20
"""Largest file that is read, in bytes; a shrunk sample has a few thousand."""


def sample_text(sample: Sample, notes: Mapping[str, str]) -> str:
    """Return a sample as TOML; ``notes`` are texts for people, by name."""
    lines = [f"irkit_sample = {VERSION}", f"kind = {_quoted(sample.kind)}"]
    lines += [f"{name} = {_text(text)}" for name, text in notes.items() if text]
    if isinstance(sample.ir, bytes):
        encoded = base64.encodebytes(sample.ir).decode()
        lines.append(f"model = {_text(encoded)}")
    elif isinstance(sample.ir, str):
        lines.append(f"text = {_quoted(sample.ir)}")  # Any character can occur in it.
    elif isinstance(sample.ir, Numbered):
        lines.append(f"numbers = {list(sample.ir.numbers)}")
    else:
        lines.append(f"program = {_text(sample.ir.script())}")
        if isinstance(sample.ir, IRModule):
            lines.append("is_module = true")
    phases = sample.pipeline.text(_known()).split(";")
    passes = ";".join(phase for phase in phases if not phase.endswith(":"))
    if not (sample.damaged or isinstance(sample.ir, (str, Numbered))):  # Nothing runs on these.
        lines.append(f"passes = {_quoted(passes)}")
    if sample.schedule.steps:
        # Without the lines that called it: those are the generator's.
        schedule = sample.schedule.without_where().as_json_lines()
        lines.append(f"schedule = {_text(schedule)}")
    if sample.zeros_have_signs:
        lines.append("zeros_have_signs = true")
    if sample.sound:
        lines.append("sound = true")
    if sample.may_lack_memory:
        lines.append("may_lack_memory = true")
    if sample.may_be_refused:
        lines.append("may_be_refused = true")
    if sample.damaged or isinstance(sample.ir, str):
        lines.append(f"damaged = {_number(sample.damaged)}")
    for name, array in _constants(sample.ir).items():
        lines.append(f"\n[constants.{_quoted(name)}]\n{_array(array)}")
    for at, inputs in enumerate(sample.inputs):
        lines.append(f"\n[[inputs]]\nname = {_quoted(inputs.name)}\nrung = {_quoted(inputs.kind)}")
        lines.append(_list("args", (_value(arg) for arg in inputs.args)))
        expected = sample.expected[at]
        if expected is not None:
            lines.append(_list("expected", (_value(np.asarray(each)) for each in expected)))
            lines.append(_list("allowed", (_allowed(each) for each in sample.allowed[at])))
    return "\n".join(lines) + "\n"


def read_sample(path: Path) -> Sample:
    """Read a file with the text of a sample. A pass whose name has a colon imports its module, so
    read nothing that you would not run.

    Raises: FormatError if it is not such a file; ParseError and other IRKitErrors if its contents
    are not well formed; OSError.
    """
    with path.open("rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise FormatError(f"{path} is larger than {LARGEST >> 20} MB")
    try:
        return parse_sample(data.decode())
    except IRKitError as error:
        where = f"{error.span}: " if error.span is not None else ""
        raise FormatError(f"{path}: {where}{error.message}", hint=error.hint) from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: {error}") from None


def parse_sample(text: str) -> Sample:
    """Read the text of a sample; see :func:`read_sample`."""
    try:
        table = tomllib.loads(text)
        if table.get("irkit_sample") != VERSION:
            found = table.get("irkit_sample")
            raise FormatError(f"irkit_sample is {found!r}, expected {VERSION}")
        return _sample(table)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(error, IRKitError):
            raise
        raise FormatError(f"this is not a sample: {type(error).__name__}: {error}") from None


def _sample(table: dict[str, Any]) -> Sample:
    kind = table["kind"]
    if kind not in KINDS:
        raise FormatError(f"kind is {kind!r}, expected one of {', '.join(KINDS)}")
    program = _program(table)
    damaged = table.get("damaged", "text" in table) is True
    inputs, expected, allowed = list[InputSet](), list[Any](), list[tuple[Tolerance, ...]]()
    for each in table.get("inputs", ()):
        if each["rung"] not in get_args(InputKind):
            raise FormatError(f"rung is {each['rung']!r}, expected one of {get_args(InputKind)}")
        args = tuple(_read_value(value) for value in each["args"])
        inputs.append(InputSet(str(each["name"]), each["rung"], args))
        found = each.get("expected")
        expected.append(None if found is None else tuple(_read_array(value) for value in found))
        allowed.append(tuple(_read_allowed(value) for value in each.get("allowed", ())))
    schedule = table.get("schedule")
    return Sample(
        kind,
        program,
        GRAPH
        if damaged or "text" in table or "numbers" in table
        else _pipeline(table["passes"], program),
        NO_SCHEDULE if schedule is None else ScheduleTrace.from_json(schedule),
        tuple(inputs),
        tuple(expected),
        tuple(allowed),
        zeros_have_signs=table.get("zeros_have_signs") is True,
        damaged=damaged,
        sound=table.get("sound") is True,
        may_lack_memory=table.get("may_lack_memory") is True,
        may_be_refused=table.get("may_be_refused") is True,
    )


def _program(table: dict[str, Any]) -> Program:
    if "model" in table:
        return base64.b64decode(table["model"])
    if "text" in table:
        return str(table["text"])
    if "numbers" in table:
        return Numbered(tuple(map(int, table["numbers"])))
    if table["kind"] != "graphs":
        return parse(table["program"])
    constants = {name: _read_array(value) for name, value in table.get("constants", {}).items()}
    module = parse_graphs(table["program"], constants=constants)
    if table.get("is_module") is True:
        return module
    (func,) = module.functions.values()
    if not isinstance(func, GraphFunc):
        raise FormatError(f"{func.name!r} is not a graph function")
    return func


def _pipeline(text: str, program: Program) -> Pipeline:
    if isinstance(program, PrimFunc):
        return pipeline_for(text, program)
    return parse_pipeline(text, _known(), GRAPH)


def _known() -> Registry:
    return Registry(BUILTIN)


def arrays_by_digest(funcs: Iterable[Function]) -> dict[str, Array]:
    """Return the constants of graph functions; their text only names the large ones."""
    graphs = [func for func in funcs if isinstance(func, GraphFunc)]
    return {data.digest: data.array for func in graphs for data in constants_of(func).values()}


def _constants(program: Program) -> dict[str, Array]:
    """Return the large arrays that the text of a graph only names."""
    if not isinstance(program, (GraphFunc, IRModule)):
        return {}
    known, text = arrays_by_digest(functions_of(program)), program.script()
    return {digest: array for digest, array in known.items() if digest in text}


def _quoted(text: str) -> str:
    # A JSON string is a TOML string, except for characters that TOML wants escaped too.
    return json.dumps(text).replace("\x7f", "\\u007f")


def _text(text: str) -> str:
    """Quote several lines literally, if possible."""
    plain = all(each.isprintable() or each == "\n" for each in text) and text.isascii()
    if not plain or "'''" in text or "\n" not in text:
        return _quoted(text)
    return f"'''\n{text}'''"


def _list(name: str, values: Iterable[str]) -> str:
    inside = "".join(f"    {value},\n" for value in values)
    return f"{name} = [\n{inside}]"


def _value(value: Any) -> str:
    if isinstance(value, (bool, int, float)):
        return _number(value)
    return "{ " + _array(np.asarray(value)).replace("\n", ", ") + " }"


def _allowed(allowed: Tolerance) -> str:
    return "false" if allowed is None else _value(allowed)


def _array(array: Array) -> str:
    numbers = ", ".join(_number(value) for value in array.reshape(-1).tolist())
    shape = ", ".join(map(str, array.shape))
    return f'dtype = "{array.dtype.name}"\nshape = [{shape}]\ndata = [{numbers}]'


def _number(value: float) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _read_value(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float)) else _read_array(value)


def _read_array(value: Any) -> Array:
    name = value["dtype"]
    try:
        dtype = array_type(name)
    except IRKitError:
        raise FormatError(f"dtype is {name!r}, expected numbers") from None
    shape = tuple(cast("list[int]", value["shape"]))
    return np.array(value["data"], dtype).reshape(shape)


def _read_allowed(value: Any) -> Tolerance:
    if value is False:
        return None
    return _read_value(value)
