"""Encode the arguments of primitives as data, and decode them."""

import keyword
from collections.abc import Mapping, Sequence
from typing import Any, cast

from irkit.core import Node, ScheduleError, walk
from irkit.ir import (
    Block,
    Buffer,
    DType,
    Expr,
    PrimFunc,
    Stmt,
    Var,
    as_int,
    mangled,
    parse_expr,
    script,
    shape_vars,
)
from irkit.schedule.arguments.index_map import RecordedMap, map_from
from irkit.schedule.state.lookup import blocks_below, find_loop, loops_above
from irkit.schedule.state.references import BlockRef, Drawn, LoopRef
from irkit.schedule.trace.schedule_trace import (
    BufferName,
    ExprText,
    MapText,
    Ref,
    TraceStep,
    Value,
)

_RESERVED = {"sch", "irkit", "te"}


class Encoder:
    """Encoder of arguments, which records the name of each loop, block and number in the trace."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set(_RESERVED)
        self._implied: list[TraceStep] = []

    def copy(self) -> "Encoder":
        """Return a copy, to be discarded if the primitive fails."""
        made = Encoder()
        made._names, made._taken = dict(self._names), set(self._taken)
        return made

    def renamed(self, mapping: Mapping[Node, Node]) -> "Encoder":
        """Return a copy for a function with other symbols, without the numbers that were drawn:
        nobody holds those."""
        made = Encoder()
        for key, name in self._names.items():
            if isinstance(key, Var):
                made._names[mapping.get(key, key)] = name
            elif key[0] != "drawn":
                made._names[key] = name
        made._taken = set(self._taken)
        return made

    def implied(self) -> tuple[TraceStep, ...]:
        """Return, and clear, the look-up steps that the arguments encoded so far need."""
        made, self._implied = tuple(self._implied), []
        return made

    def knows(self, result: object) -> bool:
        """Return True if the trace has a name for a result, or for each of a list of results."""
        if isinstance(result, (list, tuple)):
            return all(self.knows(each) for each in cast("Sequence[object]", result))
        key = _key(result)
        return key is None or key in self._names

    def name(self, result: object) -> list[str]:
        """Choose names for the results of a primitive."""
        given = cast("Sequence[object]", result) if isinstance(result, (list, tuple)) else [result]
        if any(_key(each) is not None for each in given):
            return [self._name(each) for each in given]
        return []

    def _name(self, result: object) -> str:
        key = _key(result)
        if key in self._names and not isinstance(result, Drawn):
            return self._names[key]
        wanted = mangled(
            result.var.name
            if isinstance(result, LoopRef)
            else f"b_{result.name}"
            if isinstance(result, BlockRef)
            else "drawn"
        )
        name, at = wanted, 1
        while name in self._taken or keyword.iskeyword(name):
            name, at = f"{wanted}_{at}", at + 1
        self._taken.add(name)
        if isinstance(result, Drawn):
            result.name = name
        if key is not None:
            self._names[key] = name
        return name

    def encode(self, func: PrimFunc, arg: object) -> Value:
        """Encode an argument of a primitive as data."""
        match arg:
            case Drawn() if arg.name in self._taken:
                return Ref(arg.name)
            case None | bool() | int() | float() | str():
                return arg
            case BlockRef() | LoopRef():
                return self._reference(func, arg)
            case Buffer():
                return self._buffer(func, arg)
            case Expr():
                number = as_int(arg)
                return ExprText(script(arg)) if number is None else number
            case DType():
                return str(arg)
            case list() | tuple():
                items = cast("Sequence[object]", arg)
                return tuple(self.encode(func, each) for each in items)
            case RecordedMap():
                return cast(
                    Value, arg
                )  # Converted to text when its rank is known, after it has run.
            case _:
                raise ScheduleError(
                    f"a trace cannot represent {type(arg).__name__} {arg!r} as an argument"
                )

    def _reference(self, func: PrimFunc, ref: BlockRef | LoopRef) -> Ref:
        key = _key(ref)
        if key not in self._names:
            if isinstance(ref, BlockRef):
                step = TraceStep("get_block", (ref.name,), (), (self._name(ref),))
            else:
                block, at = _position(func, ref.var)
                around = self._reference(func, BlockRef(block.name))
                step = TraceStep("get_loop", (around, at), (), (self._name(ref),))
            self._implied.append(step)
        return Ref(self._names[key])

    def _buffer(self, func: PrimFunc, buffer: Buffer) -> BufferName:
        at = 0
        while True:
            found = buffer_named(func, buffer.name, at)
            if found is buffer:
                return BufferName(buffer.name, at)
            at += 1

    def decode(self, func: PrimFunc, value: Value, found: Mapping[str, Any]) -> Any:
        """Decode an argument; ``found`` maps names to the results of earlier steps."""
        match value:
            case Ref():
                if value.name not in found:
                    raise ScheduleError(f"no earlier step returned {value.name!r}")
                return found[value.name]
            case ExprText():
                return expr_of(func, value.text)
            case MapText():
                return map_from(value.text)
            case BufferName():
                return buffer_named(func, value.name, value.at)
            case tuple():
                return [self.decode(func, each, found) for each in value]
            case _:
                return value


def _key(result: object) -> Any:
    match result:
        case BlockRef():
            return ("block", result.name)
        case LoopRef():
            return result.var
        case Drawn():
            return ("drawn", id(result))
        case _:
            return None


def _position(func: PrimFunc, var: Var) -> tuple[Block, int]:
    """Return a block under a loop, and the position of the loop among those around the block."""
    loop = find_loop(func, var)
    below = blocks_below(loop)
    if not below:
        raise ScheduleError(f"loop {var.name!r} contains no block to find it by", at=loop)
    return below[0], loops_above(func, below[0]).index(loop)


def expr_of(func: PrimFunc, text: str) -> Expr:
    """Parse an expression over the shape variables of a function."""
    return parse_expr(text, {var.name: var for var in shape_vars(func)})


def buffer_named(func: PrimFunc, name: str, at: int) -> Buffer:
    """Return the ``at``-th buffer of a name; parameters come first, then text order."""
    known = buffers_of(func)
    named = [each for each in known if each.name == name]
    if not 0 <= at < len(named):
        names = ", ".join(sorted({each.name for each in known}))
        raise ScheduleError(f"{func.name} has no buffer {name!r}; it has: {names}")
    return named[at]


def buffers_of(func: PrimFunc) -> list[Buffer]:
    """List the buffers of a function: its parameters, then the others in text order."""
    found = [param for param in func.params if isinstance(param, Buffer)]
    for stmt in walk(func, on=Stmt):
        buffer = getattr(stmt, "buffer", None)
        if isinstance(buffer, Buffer) and buffer not in found:
            found.append(buffer)
    return found
