"""The loop nest of a function as rows of a tree, with extents, bytes moved and operations, and what
a pass changed about it.

Numbers count every iteration, both sides of a condition, all lanes under a mask, and each distinct
subexpression of a statement once. They are None if an extent is unknown.
"""

from collections.abc import Mapping
from math import prod
from typing import Literal

import msgspec
import numpy as np

from irkit.core import children, deep_recursion, walk
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


def nest(part: PrintedFunction) -> list[NestRow]:
    """List the rows of a loop function, in the order of its text."""
    func = part.func
    assert isinstance(func, PrimFunc), "only loop functions have loop nests"
    tree = _NestTree(func, part.starts)
    with deep_recursion:
        tree.visit(func.body, 0)
    for row in reversed(tree.rows[1:]):
        _add(tree.rows[row.parent], row.read, row.written, row.flops)
    return tree.rows


class _NestTree:
    """The rows of a function, and the lines on which its nodes start."""

    def __init__(self, func: PrimFunc, starts: Mapping[int, int]) -> None:
        self.starts = starts
        self.rows = [NestRow("function", func.name, line=starts.get(id(func), 0))]

    def visit(self, stmt: Stmt, parent: int) -> None:
        """Add the rows of a statement and of everything in it, below row ``parent``."""
        row = _row(stmt, self.rows[parent])
        if row is not None:
            parent = self.add(row, stmt, parent)
        _count(stmt, self.rows[parent])
        if isinstance(stmt, Block) and stmt.init is not None:
            init = _init_row(stmt, self.rows[parent])
            self.visit(stmt.init, self.add(init, stmt.init, parent))
            self.visit(stmt.body, parent)
            return
        for inner in children(stmt):
            if isinstance(inner, Stmt):
                self.visit(inner, parent)

    def add(self, row: NestRow, stmt: Stmt, parent: int) -> int:
        """Add one row below another; return its position."""
        row.parent, row.line = parent, self.starts.get(id(stmt), 0)
        row.depth = self.rows[parent].depth + 1
        self.rows.append(row)
        return len(self.rows) - 1


def _row(stmt: Stmt, above: NestRow) -> NestRow | None:
    """Return the row of a statement, if it has one."""
    match stmt:
        case For(var, begin, end, _, kind, thread):
            first, last = as_int(begin), as_int(end)
            extent = None if first is None or last is None else max(0, last - first)
            trips = _product([extent, above.trips])
            mark = thread or kind
            return NestRow("loop", var.name, mark=mark, extent=extent, trips=trips)
        case Block(name):
            return NestRow("block", name, trips=above.trips)
        case If():
            return NestRow("if", "", trips=above.trips)
        case Store(buffer):
            return NestRow("store", buffer.name, trips=above.trips)
        case Evaluate(Call(name)):
            return NestRow("call", name, trips=above.trips)
        case _:
            return None


def _init_row(block: Block, above: NestRow) -> NestRow:
    """Return the row of the init of a block, which runs once for all values of its reduce axes."""
    share = _product([as_int(axis.extent) for axis in block.axes if axis.kind == "reduce"])
    if share is None or above.trips is None:
        return NestRow("init", block.name, trips=None)
    return NestRow("init", block.name, trips=above.trips // max(1, share))


def _product(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return prod(known) if len(known) == len(sizes) else None


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
