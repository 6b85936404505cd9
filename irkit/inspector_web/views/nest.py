"""The loop nest of a function as rows of a tree, with extents, bytes moved and operations, and what
a pass changed about it.

Numbers count every iteration, both sides of a condition, all lanes under a mask, and each distinct
subexpression of a statement once. They are None if an extent is unknown.
"""

from collections.abc import Iterator
from math import prod
from typing import Literal

import msgspec
import numpy as np

from irkit.core import children, walk
from irkit.inspector_web.diff.line_diff import diff_lines
from irkit.inspector_web.text.lines import Ids
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.ir import (
    Binary,
    Block,
    Call,
    Compare,
    DType,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    Neg,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    as_int,
)

NestKind = Literal["function", "loop", "block", "init", "if", "store", "call"]


class NestRow(msgspec.Struct, omit_defaults=True):
    """A node of the tree, ``depth`` below the function.

    ``name`` is the variable, block or buffer; ``mark`` the kind of the loop or the axis of its
    thread; ``extent`` and ``trips`` how often it runs inside its parent and in total; ``line`` the
    printed line, from 1. Units: bytes; float operations, one for each lane.
    """

    kind: NestKind
    name: str
    depth: int = 0
    parent: int = -1
    line: int = 0
    mark: str = ""
    extent: int | None = 1
    trips: int | None = 1
    read: int | None = 0
    written: int | None = 0
    flops: int | None = 0


class _Visit(msgspec.Struct):
    """A statement to visit, below row ``parent``; ``block`` is set for the init of a block."""

    node: Stmt
    parent: int
    block: Block | None = None


def nest(part: PrintedFunction) -> list[NestRow]:
    """List the rows of a loop function, in the order of its text."""
    func = part.func
    assert isinstance(func, PrimFunc), "only loop functions have loop nests"
    starts = part.starts
    rows = [NestRow("function", func.name, line=starts.get(id(func), 0))]
    stack = [_Visit(func.body, 0)]
    while stack:
        visit = stack.pop()
        parent = visit.parent
        for row in _rows(visit, rows[parent]):
            row.parent, row.line = parent, starts.get(id(visit.node), 0)
            row.depth = rows[parent].depth + 1
            rows.append(row)
            parent = len(rows) - 1
        _count(visit.node, rows[parent])
        stack.extend(reversed(list(_inner_statements(visit.node, parent))))
    for row in reversed(rows[1:]):
        _add(rows[row.parent], row.read, row.written, row.flops)
    return rows


def _rows(visit: _Visit, above: NestRow) -> Iterator[NestRow]:
    """Yield the row of a statement, if it has one, after that of the init of a block."""
    if visit.block is not None:
        above = _init_row(visit.block, above)
        yield above
    match visit.node:
        case For(var, begin, end, _, kind, thread):
            first, last = as_int(begin), as_int(end)
            extent = None if first is None or last is None else max(0, last - first)
            trips = _product([extent, above.trips])
            mark = thread or kind
            yield NestRow("loop", var.name, mark=mark, extent=extent, trips=trips)
        case Block(name):
            yield NestRow("block", name, trips=above.trips)
        case If():
            yield NestRow("if", "", trips=above.trips)
        case Store(buffer):
            yield NestRow("store", buffer.name, trips=above.trips)
        case Evaluate(Call(name)):
            yield NestRow("call", name, trips=above.trips)
        case _:
            pass


def _init_row(block: Block, above: NestRow) -> NestRow:
    """Return the row of the init of a block, which runs once for all values of its reduce axes."""
    share = _product([as_int(axis.extent) for axis in block.axes if axis.kind == "reduce"])
    if share is None or above.trips is None:
        return NestRow("init", block.name, trips=None)
    return NestRow("init", block.name, trips=above.trips // max(1, share))


def _product(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return prod(known) if len(known) == len(sizes) else None


def _inner_statements(node: Stmt, parent: int) -> Iterator[_Visit]:
    """Yield the statements inside one, in order of the text."""
    if isinstance(node, Seq):
        yield from (_Visit(stmt, parent) for stmt in node.stmts)
        return
    if isinstance(node, Block) and node.init is not None:
        yield _Visit(node.init, parent, node)
        yield _Visit(node.body, parent)
        return
    yield from (_Visit(child, parent) for child in children(node) if isinstance(child, Stmt))


def _count(node: Stmt, row: NestRow) -> None:
    """Count what the expressions of a statement itself move and compute, each time it runs."""
    read = written = flops = 0
    for expr in _own_expressions(node):
        for each in walk(expr):
            if isinstance(each, Load):
                read += _bytes(each.dtype)
            elif isinstance(each, Expr) and _is_float_operation(each):
                flops += each.dtype.lanes
    if isinstance(node, Store):
        written = _bytes(node.value.dtype)
    times = row.trips
    if times is None:
        _add(row, *(None if each else 0 for each in (read, written, flops)))
    else:
        _add(row, read * times, written * times, flops * times)


def _own_expressions(node: Stmt) -> list[Expr]:
    if isinstance(node, (Store, Evaluate, If, Let)):
        return [child for child in children(node) if isinstance(child, Expr)]
    return []


def _is_float_operation(expr: Expr) -> bool:
    known = isinstance(expr, (Binary, Neg, Call)) and not isinstance(expr, Compare)
    return known and expr.dtype.is_float


def _bytes(dtype: DType) -> int:
    return (max(8, dtype.bits) // 8) * dtype.lanes


def _add(row: NestRow, read: int | None, written: int | None, flops: int | None) -> None:
    row.read = None if row.read is None or read is None else row.read + read
    row.written = None if row.written is None or written is None else row.written + written
    row.flops = None if row.flops is None or flops is None else row.flops + flops


NestStatus = Literal["same", "changed", "removed", "added"]


class NestChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of the tree before, after, or both; ``changed`` if a number or the mark differs."""

    status: NestStatus
    before: NestRow | None = None
    after: NestRow | None = None


def nest_changes(before: list[NestRow], after: list[NestRow]) -> list[NestChange]:
    """Compare the trees before and after a pass, in the order of both texts."""
    numbers: dict[tuple[str, str, int], int] = {}
    kept = diff_lines(_keys(before, numbers), _keys(after, numbers)).kept
    made: list[NestChange] = []
    i = j = 0
    ends = [(len(before), len(after))]
    for at, other in [*zip(kept.before.tolist(), kept.after.tolist(), strict=True), *ends]:
        made += [NestChange("removed", before=row) for row in before[i:at]]
        made += [NestChange("added", after=row) for row in after[j:other]]
        if at < len(before):
            alike = _facts(before[at]) == _facts(after[other])
            made.append(NestChange("same" if alike else "changed", before[at], after[other]))
        i, j = at + 1, other + 1
    return made


def _keys(rows: list[NestRow], numbers: dict[tuple[str, str, int], int]) -> Ids:
    keys = [(row.kind, row.name, row.depth) for row in rows]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)


def _facts(row: NestRow) -> tuple[object, ...]:
    return row.mark, row.extent, row.trips, row.read, row.written, row.flops
