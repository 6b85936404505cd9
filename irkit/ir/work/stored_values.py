"""Estimate the work of a loop as an expression of the sizes known before it."""

from functools import reduce
from operator import add

from irkit.core import any_node, children, count_nodes, free_symbols, substitute, walk
from irkit.ir.arith import simplify
from irkit.ir.buffer import Load
from irkit.ir.build import as_int, cast, maximum
from irkit.ir.dtype import F64
from irkit.ir.expr import Div, Expr, FloorDiv, FloorMod, Var, const
from irkit.ir.intrinsics import Call, InstructionCall
from irkit.ir.stmt import Block, For, Let, Stmt, Store

_MOST_NODES = 64
"""An extent with more nodes is not worth computing: it counts as one iteration."""
_MOST = 1e300
_MOST_TERMS = 8
_MOST_FACTORS = 6


def stored_values(loop: For) -> Expr:
    """Return about how many values a loop stores, each lane counted, as a float expression that may
    be computed before the loop: of variables defined there, without loads or divisions that trap.

    A variable of the loops inside has its middle value; an extent that is known only inside counts
    as one, and both arms of an ``if`` count.
    """
    return _Estimate().of(loop)


class _Estimate:
    """The terms of a sum: a product of extents that are not constant, and what multiplies it."""

    def __init__(self) -> None:
        self._values: dict[Var, Expr | None] = {}
        self._terms: dict[tuple[Expr, ...], float] = {}

    def of(self, loop: For) -> Expr:
        stack: list[tuple[Stmt, float, tuple[Expr, ...]]] = [(loop, 1.0, ())]
        while stack:
            stmt, times, factors = stack.pop()
            if isinstance(stmt, Store):
                self._add(times * stmt.value.dtype.lanes, factors)
            elif isinstance(stmt, For):
                times, factors = self._enter(stmt, times, factors)
            elif isinstance(stmt, Let):
                self._values[stmt.var] = self._outside(stmt.value)
            elif isinstance(stmt, Block):
                for axis in stmt.axes:
                    self._values[axis.var] = self._outside(axis.binding)
            below = [node for node in children(stmt) if isinstance(node, Stmt)]
            stack.extend((node, times, factors) for node in reversed(below))
        return self._sum()

    def _enter(
        self, loop: For, times: float, factors: tuple[Expr, ...]
    ) -> tuple[float, tuple[Expr, ...]]:
        """Multiply by the iterations of a loop, and give its variable the middle value."""
        begin, end = self._outside(loop.begin), self._outside(loop.end)
        if begin is None or end is None:
            self._values[loop.var] = None
            return times, factors
        extent = simplify(end - begin)
        self._values[loop.var] = simplify(begin + extent // 2)
        known = as_int(extent)
        if known is not None:
            return min(times * max(known, 0), _MOST), factors
        return times, (*factors, extent) if len(factors) < _MOST_FACTORS else factors

    def _outside(self, expr: Expr) -> Expr | None:
        """Return the value of an expression before the loop; None if it must not be computed."""
        used = [each for each in free_symbols(expr) if isinstance(each, Var)]
        inner = {var: self._values[var] for var in used if var in self._values}
        known = {var: value for var, value in inner.items() if value is not None}
        if len(known) < len(inner) or any_node(expr, (Load, Call, InstructionCall)):
            return None
        for each in walk(expr):
            if isinstance(each, (Div, FloorDiv, FloorMod)) and not as_int(each.b):
                return None
        found = simplify(substitute(expr, known)) if known else expr
        return found if count_nodes(found) <= _MOST_NODES else None

    def _add(self, times: float, factors: tuple[Expr, ...]) -> None:
        if factors in self._terms or len(self._terms) < _MOST_TERMS:
            self._terms[factors] = self._terms.get(factors, 0.0) + times

    def _sum(self) -> Expr:
        terms: list[Expr] = []
        for factors, times in self._terms.items():
            term: Expr = const(times, F64)
            for extent in factors:
                term = term * cast(maximum(extent, const(0, extent.dtype)), F64)
            terms.append(term)
        return simplify(reduce(add, terms)) if terms else const(0.0, F64)
