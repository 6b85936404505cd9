"""Index expressions as affine sums: an integer constant plus multiples of atoms.

An atom is a variable, or an expression that is not a sum (known by its number). 64-bit index
arithmetic is assumed not to wrap around; narrower arithmetic only where its ranges prove it.
"""

from collections.abc import Mapping

import msgspec

from irkit.core import postorder, substitute
from irkit.ir.analysis.value_numbering import ValueNumbering
from irkit.ir.arith import Interval, bounds, simplify
from irkit.ir.dtype import DType
from irkit.ir.expr import Add, Cast, Const, Expr, FloorDiv, FloorMod, Mul, Neg, Sub, Var

MAX_TERMS = 32
MAX_FACTOR = 1 << 47
Limits = tuple[float, float]


class Affine(msgspec.Struct, frozen=True):
    """A ``constant`` plus the sum of factor times atom, by atom number."""

    terms: dict[int, int]
    constant: int = 0

    def plus(self, other: "Affine", factor: int = 1) -> "Affine":
        """Add a multiple of another sum."""
        terms = dict(self.terms)
        for atom, times in other.terms.items():
            total = terms.get(atom, 0) + factor * times
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        return Affine(terms, self.constant + factor * other.constant)

    def times(self, factor: int) -> "Affine":
        return Affine({}).plus(self, factor) if factor else Affine({})


class AffineReader:
    """Reader of expressions as affine sums of atoms.

    ``ranges`` are the limits of variables, ``values`` the expressions that let-bound variables
    stand for.
    """

    def __init__(
        self, ranges: Mapping[Var, Interval], values: Mapping[Var, Expr] | None = None
    ) -> None:
        self.numbering = ValueNumbering()
        self.ranges = ranges
        self.values = values or {}
        self._known: dict[int, Affine] = {}
        self._alive: list[Expr] = []
        self._boxes: dict[int, Interval] = {}
        # Outermost first, so that a chain of lets causes no recursion.
        for value in self.values.values():
            self.of(value)

    def of(self, expr: Expr) -> Affine:
        """Return an integer expression as a sum."""
        known = self._known
        self._alive.append(expr)
        for node in postorder(expr):
            if id(node) not in known:
                assert isinstance(node, Expr)
                known[id(node)] = self._read(node)
        return known[id(expr)]

    def atom(self, number: int) -> Expr:
        return self.numbering.exprs[number]

    def limits(self, form: Affine) -> Limits:
        """Bound a sum by the ranges of its atoms."""
        low = high = float(0)
        for atom, factor in form.terms.items():
            a, b = self._atom_limits(atom)
            low += factor * (a if factor > 0 else b)
            high += factor * (b if factor > 0 else a)
        return low + form.constant, high + form.constant

    def _atom_limits(self, number: int) -> Limits:
        expr = self.atom(number)
        low, high = (expr.dtype.low, expr.dtype.high) if expr.dtype.bits < 64 else (-_INF, _INF)
        known = self._box(number, expr)
        if known is not None:
            low = low if known.low is None else max(low, known.low)
            high = high if known.high is None else min(high, known.high)
        return low, high

    def _box(self, number: int, expr: Expr) -> Interval | None:
        if isinstance(expr, Var):
            return self.ranges.get(expr)
        if not isinstance(expr, (FloorDiv, FloorMod)) or expr.dtype.lanes != 1:
            return None
        # Without this check, an index of a circular or tiled buffer could wrap around.
        if number not in self._boxes:
            self._boxes[number] = bounds(expr, self.ranges)
        return self._boxes[number]

    def _read(self, node: Expr) -> Affine:
        found = self._sum(node)
        if found is None or len(found.terms) > MAX_TERMS or not self._fits(found, node.dtype):
            return Affine({self.numbering.of(node): 1})
        return found

    def _sum(self, node: Expr) -> Affine | None:
        known = self._known
        match node:
            case Const(value) if not node.dtype.is_float:
                return Affine({}, int(value))
            case Var() if node in self.values:
                value = self.values[node]
                return known[id(value)] if id(value) in known else self.of(value)
            case Add(a, b):
                return known[id(a)].plus(known[id(b)])
            case Sub(a, b):
                return known[id(a)].plus(known[id(b)], -1)
            case Neg(a):
                return known[id(a)].times(-1)
            case Mul(a, b):
                left, right = known[id(a)], known[id(b)]
                if not left.terms:
                    return right.times(left.constant)
                return None if right.terms else left.times(right.constant)
            case Cast(value) if value.dtype.is_integer:
                return known[id(value)]
            case FloorDiv() | FloorMod() if node.dtype.lanes == 1:
                # A tiled layout: `(outer * 8 + inner) // 8` is a sum once axes are loops.
                plain = simplify(substitute(node, self.values), self.ranges)
                return None if isinstance(plain, (FloorDiv, FloorMod)) else self.of(plain)
            case _:
                return None

    def _fits(self, form: Affine, dtype: DType) -> bool:
        if not dtype.is_integer or dtype.lanes > 1:
            return False
        if any(abs(factor) > MAX_FACTOR for factor in form.terms.values()):
            return False
        if dtype.bits == 64 and dtype.kind == "i":
            return True
        low, high = self.limits(form)
        return dtype.low <= low and high <= dtype.high


_INF = float("inf")
