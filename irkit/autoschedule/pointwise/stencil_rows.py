"""How many rows of a stencil are computed together: what two of them need is computed once.

A stage that reads neighbours above and below, such as a blur, loads most of what a row reads again
for the next one, and sums it again. Of some rows together, each value is loaded and computed once.
"""

from typing import cast

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.core import Node, children, substitute
from irkit.ir import Axis, Block, Call, Const, Expr, Load, Max, Min, Var, as_int, simplify
from irkit.ir.analysis import ValueNumbering
from irkit.schedule import only_store, variables

_CHOICES = (1, 2, 3, 4, 6, 8)
_GAIN = 1.1
"""How many times faster more rows must be expected to be: their last tile is guarded."""
STEP_CYCLES = 0.75
"""Cycles of an iteration for its counter and the jump."""
CALLED, COMPARED = 12, 3
"""Operations of a function such as exp, and of a minimum or maximum, which keeps what is no number.
"""
_MOST_VALUES = 200
"""Loads and operations of a row, of which several copies are still small code."""


class RowWork(msgspec.Struct, frozen=True):
    """What so many rows together do for each column: operations and loads, each distinct one once,
    and how many values are kept at most from one row for a later one."""

    rows: int
    operations: int
    loads: int
    kept: int

    def cycles(self, machine: Machine) -> float:
        """Estimate the cycles of a vector of each row."""
        busy = max(
            self.operations / machine.multiplied, self.loads / machine.loaded, float(self.rows)
        )
        return (busy + STEP_CYCLES) / self.rows


def stencil_rows(block: Block, machine: Machine) -> int:
    """Return how many rows of a pointwise stage to compute together: 1, unless rows share values
    and more are expected to be faster."""
    works = [work for work in row_works(block) if work.kept < machine.vector_registers // 2]
    if not works:
        return 1
    enough = _GAIN * min(work.cycles(machine) for work in works)
    return next(work.rows for work in works if work.cycles(machine) <= enough)


def row_works(block: Block) -> list[RowWork]:
    """Return the work of one row and of more; nothing if rows of a stage have nothing in common.

    Rows are along the axis before the last one.
    """
    store = only_store(block)
    if store is None or len(block.axes) < 2 or any(each.kind != "spatial" for each in block.axes):
        return []
    row = block.axes[-2]
    height = as_int(row.extent)
    values = _values(store.value)
    if height is None or len(values) > _MOST_VALUES or not _reads_several_rows(values, row):
        return []
    counted, works = _Counted(), list[RowWork]()
    for at in range(min(height, _CHOICES[-1])):
        counted.add(simplify(substitute(store.value, {row.var: row.var + at})), at)
        if at + 1 in _CHOICES:
            works.append(counted.work(at + 1))
    return works


class _Counted:
    """The distinct values of some rows: which row computes each first, and which needs it last."""

    def __init__(self) -> None:
        self.numbering = ValueNumbering()
        self.made: dict[int, int] = {}
        self.needed: dict[int, int] = {}

    def add(self, value: Expr, row: int) -> None:
        for node in _values(value):
            number = self.numbering.of(node)
            if number not in self.made:
                self.made[number] = row
                if not isinstance(node, Load):
                    for child in children(node):
                        self.needed[self.numbering.of(cast(Expr, child))] = row

    def work(self, rows: int) -> RowWork:
        exprs = [self.numbering.exprs[number] for number in self.made]
        loads = sum(isinstance(each, Load) for each in exprs)
        between = [
            sum(row <= at < self.needed.get(number, 0) for number, row in self.made.items())
            for at in range(rows - 1)
        ]
        return RowWork(rows, sum(map(_cost, exprs)), loads, max(between, default=0))


def _values(value: Expr) -> list[Expr]:
    """List the loads and operations of a value, each once, but not those of indices."""
    found: dict[int, Expr] = {}
    waiting: list[Node] = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in found or not isinstance(each, Expr) or isinstance(each, (Const, Var)):
            continue
        found[id(each)] = each
        if not isinstance(each, Load):
            waiting += children(each)
    return list(found.values())


def _cost(value: Expr) -> int:
    if isinstance(value, Load):
        return 0
    return CALLED if isinstance(value, Call) else COMPARED if isinstance(value, (Max, Min)) else 1


def _reads_several_rows(values: list[Expr], row: Axis) -> bool:
    """Return True if a buffer is read at more than one place along an axis."""
    numbering, places = ValueNumbering(), dict[int, set[tuple[int, ...]]]()
    for load in values:
        if isinstance(load, Load):
            moved = tuple(numbering.of(at) for at in load.indices if row.var in variables(at))
            places.setdefault(id(load.buffer), set()).add(moved)
    return any(len(each - {()}) > 1 for each in places.values())
