"""Integers as z3's unbounded ones, where a sum that is shown to fit its type is not reduced."""

from collections.abc import Callable
from typing import Any

from irkit.ir import DType
from irkit.proof.algebra import Term
from irkit.proof.integers import Integers, Whole


class SizedIntegers(Integers):
    """The algebra of z3's integers under the conditions of one place.

    ``holds`` tells whether a condition certainly holds there. Products of symbolic sizes have no
    limits that fit their type, but conditions such as ``i < n`` may show that they do; z3 knows
    little about remainders of products.
    """

    def __init__(self, context: Any, holds: Callable[[Term], bool]) -> None:
        super().__init__(context)
        self.holds = holds
        self._exact_terms: dict[tuple[int, DType], tuple[Term, Whole]] = {}

    def exact(self, number: Whole, dtype: DType) -> Whole:
        """Return a number with the value of its type."""
        return self._exact(number, dtype)

    def called(self, name: str, args: list[Whole], dtype: DType) -> Whole:
        if name != "mul_sat":
            return super().called(name, args, dtype)
        x, y = self._exact(args[0], dtype), self._exact(args[1], dtype)
        z3, term = self.z3, x.term * y.term
        corners = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
        low, high = min(corners), max(corners)
        if high > dtype.high:
            term = z3.If(term > dtype.high, z3.IntVal(dtype.high, self.context), term)
        if low < dtype.low:
            term = z3.If(x.term * y.term < dtype.low, z3.IntVal(dtype.low, self.context), term)
        return Whole(term, max(low, dtype.low), min(high, dtype.high))

    def _exact(self, a: Whole, dtype: DType) -> Whole:
        low, high = dtype.low, dtype.high
        if low <= a.low and a.high <= high:
            return a
        key = a.term.get_id(), dtype
        if key not in self._exact_terms:
            limits = self.z3.And(a.term >= low, a.term <= high)
            found = Whole(a.term, low, high) if self.holds(limits) else super()._exact(a, dtype)
            self._exact_terms[key] = a.term, found
        return self._exact_terms[key][1]
