"""A schedule as data: a list of steps that prints as Python, is saved as JSON, and runs on other
functions.

A step contains no IR: loops and blocks are names that earlier steps returned, expressions and index
maps are text, buffers are names. A trace from an untrusted file can therefore only call primitives.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, Union, cast

import msgspec

from irkit.core import FormatError, atomic_write
from irkit.schedule.limits import MOST_FILE_BYTES

VERSION = 1


class Ref(msgspec.Struct, frozen=True):
    """Name of a loop, block or number that an earlier step returned."""

    name: str


class ExprText(msgspec.Struct, frozen=True):
    """Expression over the shape variables of the function."""

    text: str


class MapText(msgspec.Struct, frozen=True):
    """Index map, written as a ``lambda``."""

    text: str


class BufferName(msgspec.Struct, frozen=True):
    """The ``at``-th buffer of a name, in text order."""

    name: str
    at: int = 0


Value: TypeAlias = Union[
    bool, int, float, str, Ref, ExprText, MapText, BufferName, "tuple[Value, ...]", None
]
_TAGS: dict[str, type[Any]] = {"ref": Ref, "expr": ExprText, "map": MapText, "buffer": BufferName}


class TraceStep(msgspec.Struct, frozen=True):
    """One call of a primitive; ``results`` names its results, ``drawn`` is its random decision.

    ``where`` is the line of the user's program.
    """

    primitive: str
    args: tuple[Value, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()
    results: tuple[str, ...] = ()
    several: bool = False
    drawn: Value = None
    where: str = ""

    @property
    def uses(self) -> set[str]:
        """Return the names of the earlier results that the step uses."""
        return names_in(self)

    def __str__(self) -> str:
        given = [_python(arg) for arg in self.args]
        given += [f"{name}={_python(value)}" for name, value in self.options]
        if self.drawn is not None:
            given.append(f"decision={_python(self.drawn)}")
        made = ", ".join(self.results)
        if self.several:
            made = f"({made},)" if len(self.results) == 1 else f"({made})" if made else ""
        return f"{made} = " * bool(made) + f"sch.{self.primitive}({', '.join(given)})"


class _Replayable(Protocol):
    """A schedule: it runs the steps of a trace."""

    def replay(self, trace: "ScheduleTrace") -> None: ...


class ScheduleTrace(msgspec.Struct, frozen=True):
    """The steps of a schedule, in order."""

    steps: tuple[TraceStep, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def samples(self) -> bool:
        """True if a step draws a decision."""
        return any(step.drawn is not None for step in self.steps)

    def __str__(self) -> str:
        return self.as_python()

    def as_python(self) -> str:
        """Print as statements over a schedule named ``sch``."""
        return "".join(f"{step}\n" for step in self.steps)

    def as_json(self) -> str:
        """Print as JSON, which :meth:`from_json` reads back."""
        steps = [_plain(step) for step in self.steps]
        data = {"irkit_schedule": VERSION, "steps": steps}
        return msgspec.json.format(msgspec.json.encode(data), indent=1).decode()

    def as_json_lines(self) -> str:
        """Print as JSON, a step on each line, for a file in which people read it."""
        steps = ",\n".join(map(json.dumps, json.loads(self.as_json())["steps"]))
        return f'{{"irkit_schedule": {VERSION}, "steps": [\n{steps}\n]}}\n'

    def without_where(self) -> "ScheduleTrace":
        """Return the trace without the lines of the program that made it."""
        return ScheduleTrace(tuple(msgspec.structs.replace(step, where="") for step in self.steps))

    def save(self, path: str | Path) -> None:
        """Write as JSON, atomically."""
        with atomic_write(path) as made:
            made.write_text(self.as_json(), encoding="utf-8")

    @staticmethod
    def from_json(text: str | bytes) -> "ScheduleTrace":
        """Read what :meth:`as_json` printed.

        Raises: FormatError if it is anything else.
        """
        if len(text) > MOST_FILE_BYTES:
            raise FormatError(
                f"a schedule file has at most {MOST_FILE_BYTES} bytes, found {len(text)}"
            )
        try:
            data = msgspec.json.decode(text)
            if not isinstance(data, dict):
                raise FormatError("expected a schedule, found other JSON")
            given = cast("dict[str, Any]", data)
            if given.get("irkit_schedule") != VERSION:
                raise FormatError(f"expected a schedule of version {VERSION}")
            steps = [msgspec.convert(each, _JsonStep) for each in given.get("steps", ())]
            return ScheduleTrace(tuple(_step(step) for step in steps))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as error:
            raise FormatError(f"not a schedule: {error}") from None

    @staticmethod
    def load(path: str | Path) -> "ScheduleTrace":
        """Read a file that :meth:`save` wrote."""
        return ScheduleTrace.from_json(Path(path).read_bytes())

    def without(self, drop: Callable[[TraceStep], bool]) -> "ScheduleTrace":
        """Return the trace without some steps and the steps that use their results."""
        gone: set[str] = set()
        kept: list[TraceStep] = []
        for step in self.steps:
            if drop(step) or any(name in gone for name in names_in(step)):
                gone.update(step.results)
            else:
                kept.append(step)
        return ScheduleTrace(tuple(kept))

    def apply(self, schedule: _Replayable) -> None:
        """Run the steps on another schedule.

        Raises: ScheduleError naming the step if one is not legal there.
        """
        schedule.replay(self)


class _JsonStep(msgspec.Struct, forbid_unknown_fields=True):
    """A step as JSON stores it."""

    primitive: str
    args: list[Any] = []
    options: dict[str, Any] = {}
    results: list[str] = []
    several: bool = False
    drawn: Any = None
    where: str = ""


def names_in(step: TraceStep) -> set[str]:
    """Collect the names of the earlier results that a step uses."""
    stack: list[Value] = [*step.args, *(value for _, value in step.options)]
    found: set[str] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, Ref):
            found.add(value.name)
        elif isinstance(value, tuple):
            stack.extend(value)
    return found


def _python(value: Value) -> str:
    match value:
        case Ref():
            return value.name
        case MapText():
            return value.text
        case ExprText():
            return f"sch.expr({value.text!r})"
        case BufferName():
            return f"sch.buffer({value.name!r}{f', {value.at}' if value.at else ''})"
        case tuple():
            return f"[{', '.join(_python(each) for each in value)}]"
        case _:
            return repr(value)


def _plain(step: TraceStep) -> dict[str, Any]:
    full = {
        "primitive": step.primitive,
        "args": [_plain_value(arg) for arg in step.args],
        "options": {name: _plain_value(value) for name, value in step.options},
        "results": list(step.results),
        "several": step.several,
        "drawn": _plain_value(step.drawn),
        "where": step.where,
    }
    return {
        name: value
        for name, value in full.items()
        if value or name == "primitive" or (name == "drawn" and value is not None)
    }


def _plain_value(value: Value) -> Any:
    match value:
        case Ref():
            return {"ref": value.name}
        case ExprText():
            return {"expr": value.text}
        case MapText():
            return {"map": value.text}
        case BufferName():
            return {"buffer": value.name, "at": value.at}
        case tuple():
            return [_plain_value(each) for each in value]
        case _:
            return value


def _step(plain: _JsonStep) -> TraceStep:
    return TraceStep(
        plain.primitive,
        tuple(_value(arg) for arg in plain.args),
        tuple((name, _value(value)) for name, value in plain.options.items()),
        tuple(plain.results),
        plain.several,
        _value(plain.drawn),
        plain.where,
    )


def _value(plain: Any) -> Value:
    if isinstance(plain, list):
        return tuple(_value(each) for each in cast("list[Any]", plain))
    if isinstance(plain, dict):
        given = cast("Mapping[str, Any]", plain)
        tag = next((tag for tag in _TAGS if tag in given), None)
        if tag is None:
            raise FormatError(f"unknown kind of value in a schedule: {sorted(given)}")
        fields = {"text" if tag in ("expr", "map") else "name": given[tag]}
        if tag == "buffer":
            fields["at"] = given.get("at", 0)
        return cast(Value, msgspec.convert(fields, _TAGS[tag]))
    return cast(Value, plain)
