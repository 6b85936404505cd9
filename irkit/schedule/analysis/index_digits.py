"""Show by algebra which variables an index map determines.

A fused or blocked index is a number in mixed radix: ``i * 8 + j`` with ``j < 8`` determines both
``i`` and ``j``, as ``i // 4`` and ``i % 4`` determine ``i``. Nothing here looks at single points,
so the answer takes as long for large extents as for small ones, and they may be unknown.
"""

import math
from collections.abc import Iterable, Mapping

from irkit.ir import (
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    Interval,
    LinearForm,
    Var,
    bounds,
    linear,
    simplify,
)

_UNBOUNDED = 1 << 62
"""Values between the least and the greatest of an expression, from which on it has no bounds."""
_MOST_ROUNDS = 100
"""Rounds in which something new is found; only maps made for that need more than a few."""
_MOST_ITEMS = 256
"""Expressions of an index map and numbers inside them; no more are looked at."""


def determined(image: Iterable[Expr], sizes: Mapping[Var, int | None]) -> set[Var]:
    """Return variables that provably have only one value for each value of an image.

    Each variable of ``sizes`` begins at 0 and has so many values, None for any number. Other
    variables may have any value. A variable that is not returned can be determined all the same.
    """
    proof = _Proof(sizes)
    for item in image:
        proof.learn(item)
    proof.run()
    return proof.variables()


class _Number:
    """An integer expression, and digits of it that are known: ``(expr // weight) % base``, and the
    least weight from which on all are."""

    def __init__(self, expr: Expr, low: int, span: int | None) -> None:
        self.expr, self.low, self.span = expr, low, span
        self.digits: list[tuple[int, int]] = []
        self.quotient: int | None = None

    def add(self, weight: int, base: int | None) -> None:
        """Note a digit; one of all values that a quotient has is the quotient."""
        if base is not None and self.span is not None:
            first, last = self.low // weight, (self.low + self.span) // weight
            base = None if last - first < base else base
        if base is not None:
            self.digits.append((weight, base))
        elif self.quotient is None or weight < self.quotient:
            self.quotient = weight

    def is_determined(self) -> bool:
        """Return True if no two values have the same digits.

        Digits tell the remainder of a division by ``known``: the next one must begin at a divisor
        of it.
        """
        known = 1
        left = sorted(self.digits)
        for weight, base in left:
            if known % weight == 0:
                known = math.lcm(known, weight * base)
        if self.quotient is not None:
            return known >= self.quotient
        return self.span is not None and self.span < known


class _Proof:
    """What is known of the variables of an index map: sums, atoms of sums, and digits."""

    def __init__(self, sizes: Mapping[Var, int | None]) -> None:
        self._ranges = {
            var: Interval(0, None if size is None else max(size - 1, 0))
            for var, size in sizes.items()
        }
        self._sums: list[LinearForm] = []
        self._atoms: set[Expr] = {
            var for var, size in sizes.items() if size is not None and size < 2
        }
        self._numbers: dict[Expr, _Number] = {}
        self._open: set[Expr] = set()

    def variables(self) -> set[Var]:
        return {atom for atom in self._atoms if isinstance(atom, Var) and atom in self._ranges}

    def learn(self, expr: Expr) -> None:
        """Note that the value of an expression is known, as it is written and simplified: one of
        them may show digits that the other hides."""
        for form in (linear(expr), linear(simplify(expr, self._ranges))):
            if form is not None and len(self._sums) < _MOST_ITEMS and form not in self._sums:
                self._sums.append(form)

    def run(self) -> None:
        """Draw conclusions until there are no new ones."""
        for _ in range(_MOST_ROUNDS):
            before = len(self._atoms), len(self._sums)
            self._sums = [form for form in self._sums if not self._solve(form)]
            for key in [key for key in self._open if self._numbers[key].is_determined()]:
                self._open.discard(key)
                self.learn(self._numbers[key].expr)
            if before == (len(self._atoms), len(self._sums)):
                return

    def _solve(self, form: LinearForm) -> bool:
        """Return True if the atoms of a sum are all known, or follow from the sum.

        They do if each factor is greater than the rest of the sum with smaller factors can be.
        """
        left = [(abs(c), atom) for atom, c in form.terms if atom not in self._atoms]
        reach: int | None = 0
        for factor, atom in sorted(left, key=lambda term: term[0]):
            span = self._box(atom)[1]
            if span == 0:
                continue
            if reach is None or factor <= reach:
                return False
            reach = None if span is None else reach + factor * span
        bits = form.dtype.bits
        if (bits < 64) if reach is None else reach >= 1 << bits:
            return False  # The sum may wrap around.
        for _, atom in left:
            self._atoms.add(atom)
            self._note_digit(atom)
        return True

    def _note_digit(self, atom: Expr) -> None:
        """Note what a known quotient or remainder tells about the number that is divided."""
        if not isinstance(atom, (FloorDiv, FloorMod)):
            return
        weight, base, at = 1, None, atom
        while isinstance(at, (FloorDiv, FloorMod)) and isinstance(at.b, Const) and at.b.value > 0:
            by = int(at.b.value)
            if isinstance(at, FloorDiv):
                weight *= by
            elif by % weight == 0 and (base is None or by // weight % base == 0):
                base = by // weight if base is None else base
            else:
                break
            at = at.a
        if at is not atom and len(self._numbers) < _MOST_ITEMS:
            key = simplify(at, self._ranges)
            if key not in self._numbers:
                self._numbers[key] = _Number(at, *self._box(key))
                self._open.add(key)
            self._numbers[key].add(weight, base)

    def _box(self, expr: Expr) -> tuple[int, int | None]:
        """Return the least value of an expression, and how much greater the greatest can be."""
        box = bounds(expr, self._ranges)
        if box.low is None or box.high is None or box.high - box.low >= _UNBOUNDED:
            return 0, None
        return box.low, box.high - box.low
