"""Which elements of a buffer a part of a program touches: a box whose corner can depend on the
variables outside that part."""

from collections.abc import Iterable, Set
from functools import reduce

import msgspec

from irkit.core import Node, symbols_bound, walk
from irkit.ir.analysis.affine import Affine, AffineReader
from irkit.ir.arith.bounds import bounds
from irkit.ir.arith.interval import Ranges
from irkit.ir.buffer import Load
from irkit.ir.dtype import I64
from irkit.ir.expr import Expr, Var, const, convert
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Let, Stmt

Corner = tuple[tuple[int, int], ...]


class BoxSide(msgspec.Struct, frozen=True):
    """One dimension of a box: from ``corner + low`` to ``corner + high``, inclusive."""

    corner: Corner
    low: int
    high: int

    @property
    def extent(self) -> int:
        return self.high - self.low + 1


class IndexBoxes:
    """Indices of one function as sides of boxes."""

    def __init__(self, func: PrimFunc, ranges: Ranges, values: dict[Var, Expr]) -> None:
        self.ranges = ranges
        lets = {
            let.var: let.value
            for let in walk(func.body, Let)
            if not any(True for _ in walk(let.value, Load))
        }
        self.sums = AffineReader(ranges, lets | values)

    def side(self, index: Expr, inner: Set[Node]) -> BoxSide | None:
        """Return the range of an index while the ``inner`` variables vary, or None if it is
        unknown."""
        if index.dtype.lanes > 1:
            return None
        corner: dict[int, int] = {}
        form = self.sums.of(index)
        low = high = form.constant
        for atom, factor in form.terms.items():
            expr = self.sums.atom(atom)
            parts = list(walk(expr))
            if any(isinstance(part, Load) for part in parts):
                return None
            if not any(part in inner for part in parts if part.symbol):
                corner[atom] = factor
                continue
            reach = bounds(expr, self.ranges)
            if reach.low is None or reach.high is None or reach.high - reach.low >= 1 << 31:
                return None
            ends = (factor * reach.low, factor * reach.high)
            low, high = low + min(ends), high + max(ends)
        return BoxSide(tuple(sorted(corner.items())), low, high)

    def inside(self, index: Expr, side: BoxSide) -> Expr:
        """Return an index relative to the lowest corner of a side that contains it."""
        return self.expr(self.sums.of(index).plus(Affine(dict(side.corner), side.low), -1))

    def expr(self, form: Affine) -> Expr:
        """Return a sum as an expression, its atoms in order of first occurrence."""
        terms = [_times(convert(self.sums.atom(n), I64), form.terms[n]) for n in sorted(form.terms)]
        if not terms:
            return const(form.constant, I64)
        total = reduce(lambda a, b: a + b, terms)
        return total if not form.constant else total + form.constant


def merged_sides(sides: Iterable[BoxSide | None]) -> BoxSide | None:
    """Return a side that contains several, or None if their distance is not constant."""
    found: BoxSide | None = None
    for side in sides:
        if side is None or (found is not None and found.corner != side.corner):
            return None
        if found is None:
            found = side
        else:
            low, high = min(found.low, side.low), max(found.high, side.high)
            found = BoxSide(side.corner, low, high)
    return found


def bound_inside(stmt: Stmt) -> set[Node]:
    """Return the variables introduced by a statement and those below it."""
    return {symbol for symbol in symbols_bound(stmt) if isinstance(symbol, Var)}


def _times(expr: Expr, factor: int) -> Expr:
    return expr if factor == 1 else expr * factor
