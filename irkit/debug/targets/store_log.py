"""A function that also tells what each of its lines stores, in the order of serial code.

Each store and each named value is followed by stores into logs, which are parameters of the
function made here: whoever can run a function can tell what happens inside it::

    C[i] = A[i] * f32(2.0)
    if log_count[0] >= log_first[0] and log_count[0] < log_first[0] + 65536:
        log_line[log_count[0] - log_first[0]] = 0
        log_f32[log_count[0] - log_first[0]] = C[i]
    log_count[0] = log_count[0] + 1
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import rewrite
from irkit.debug.execution.inputs import Array
from irkit.ir import (
    I32,
    I64,
    Buffer,
    DType,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    broadcast,
    const,
    ge,
    le,
    logical_and,
    numpy_dtype,
    ramp,
    select,
    seq,
)

_AT, _LINE, _COUNT, _FIRST = "log_at", "log_line", "log_count", "log_first"


class StoreLog(msgspec.Struct, frozen=True):
    """A function with logs: ``room`` entries for each, from the entry on that a call names.

    ``lines`` are the statements that are logged, by the number that ``log_line`` has of them.
    ``logs`` are the parameters that were added, in order.
    """

    func: PrimFunc
    lines: tuple[Store | Let, ...]
    logs: tuple[Buffer, ...]
    room: int

    def arguments(self, args: Sequence[Any], first: int) -> list[Any]:
        """Return the arguments of a call that logs from entry ``first`` on."""
        sizes = [1 if b.name in (_COUNT, _FIRST) else self.room for b in self.logs]
        made = [np.zeros(n, numpy_dtype(b.dtype)) for n, b in zip(sizes, self.logs, strict=True)]
        made[-1][0] = first
        return [*args, *made]

    def entries(self, arrays: Sequence[Array]) -> "LogEntries":
        """Return what the arrays after a call tell."""
        found = dict(zip([b.name for b in self.logs], arrays[-len(self.logs) :], strict=True))
        return LogEntries(self, found)


class LogEntries(msgspec.Struct, frozen=True):
    """The logs of one call, by name."""

    log: StoreLog
    arrays: dict[str, Array]

    @property
    def count(self) -> int:
        """How many entries the whole call has, logged or not."""
        return int(self.arrays[_COUNT][0])

    def line(self, number: int) -> int:
        """Return the number of the line of an entry, counted from the first that is logged."""
        return int(self.arrays[_LINE][number])

    @property
    def lines(self) -> Array:
        """The number of the line of each entry."""
        return self.arrays[_LINE]

    @property
    def places(self) -> Array:
        """The index of each entry in its buffer; 0 of a named value."""
        return self.arrays[_AT]

    def values(self, dtype: DType) -> Array:
        """Return the values of entries of a type, with 0 for those of others."""
        return self.arrays[_values_name(dtype)]


def logged_dtype(stmt: Store | Let) -> DType:
    """Return the type of the elements that a line stores, or of the value that it names."""
    return (stmt.buffer if isinstance(stmt, Store) else stmt.value).dtype.element


def with_store_log(func: PrimFunc, room: int) -> StoreLog:
    """Return a function with logs of ``room`` entries; its loops run in order.

    The function has no blocks and no loops over threads: it is as after the phases.
    """
    lines = list[Store | Let]()
    kinds = dict[str, Buffer]()
    size = (const(room, I64),)
    at, line = Buffer(_AT, size, I64), Buffer(_LINE, size, I32)
    count, first = (Buffer(name, (const(1, I64),), I64) for name in (_COUNT, _FIRST))
    now = Load(count, (const(0, I64),), None, I64)
    begin = Load(first, (const(0, I64),), None, I64)

    def note(stmt: Store | Let, place: Expr, value: Expr) -> Stmt:
        """Return the statements that log the value of a line."""
        lanes = value.dtype.lanes
        element = value.dtype.element
        values = kinds.setdefault(str(element), Buffer(_values_name(element), size, element))
        inside = logical_and(ge(now, begin), le(now + lanes, begin + room))
        where = now - begin if lanes == 1 else ramp(now - begin, 1, lanes)
        number = const(len(lines), I32)
        lines.append(stmt)
        return seq(
            If(
                inside,
                seq(
                    Store(line, (where,), number if lanes == 1 else broadcast(number, lanes)),
                    Store(at, (where,), place),
                    Store(values, (where,), value),
                ),
            ),
            Store(count, (const(0, I64),), now + lanes),
        )

    def logged(stmt: Stmt) -> Stmt | None:
        match stmt:
            case Store(_, indices, value):
                lanes = max((value.dtype.lanes, *(each.dtype.lanes for each in indices)))
                shown = _shown(stmt, lanes)
                return seq(note(stmt, _place(indices, lanes), shown), stmt)
            case Let(var, value, body):
                place = _place((), value.dtype.lanes)
                return stmt.replace(body=seq(note(stmt, place, var), body))
            case For(kind="parallel" | "vectorized" | "unrolled"):
                return stmt.replace(kind="serial", attrs=())
            case _:
                return None

    body = rewrite(func.body, logged, on=(Store, Let, For))
    logs = (*kinds.values(), at, line, count, first)
    made = PrimFunc(func.name, (*func.params, *logs), body, func.attrs, func.span)
    return StoreLog(made, tuple(lines), logs, room)


def _shown(stmt: Store, lanes: int) -> Expr:
    """Return the value that a line stores, with 0 in the lanes that it does not write."""
    value = stmt.value
    if value.dtype.lanes == 1 and lanes > 1:
        value = broadcast(value, lanes)
    if stmt.mask is None:
        return value
    zero = const(False if value.dtype.is_bool else 0, value.dtype.element)
    return select(stmt.mask, value, zero if lanes == 1 else broadcast(zero, lanes))


def _place(indices: Sequence[Expr], lanes: int) -> Expr:
    place = (
        indices[-1].astype(I64.with_lanes(indices[-1].dtype.lanes)) if indices else const(0, I64)
    )
    return broadcast(place, lanes) if lanes > 1 and place.dtype.lanes == 1 else place


def _values_name(dtype: DType) -> str:
    return f"log_{dtype.element}"
