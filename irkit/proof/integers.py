"""Integers as z3's unbounded ones: sums and divisions by constants at any width.

A number is kept before it wraps around, with limits that it certainly lies between. Only where its
value matters (below a division, a comparison, a cast to more bits) it is reduced to its type, and
not even there if the limits fit. Nothing is assumed: a sum that could overflow is a remainder by
``2**bits``, which z3 knows how to divide by.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from irkit.ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    DType,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Shl,
    Shr,
    Sub,
)
from irkit.proof.algebra import Abstract, Term
from irkit.proof.solver import z3_module

MOST_BITS = 12
"""Bits of the numbers, which are not negative, of a bitwise operation that is translated."""
_BITWISE: dict[type[Binary], Callable[[Any, Term, Term], Term]] = {
    BitAnd: lambda z3, a, b: z3.And(a, b),
    BitOr: lambda z3, a, b: z3.Or(a, b),
    BitXor: lambda z3, a, b: z3.Xor(a, b),
}


class Whole(msgspec.Struct, frozen=True, eq=False):
    """A term of z3's integers between two limits."""

    term: Term
    low: int
    high: int

    @property
    def constant(self) -> int | None:
        return self.low if self.low == self.high else None


class Integers:
    """The algebra of z3's unbounded integers."""

    def __init__(self, context: Any) -> None:
        self.z3 = z3_module()
        self.context = context

    def sort(self, dtype: DType) -> Any:
        return self.z3.IntSort(self.context)

    def number(self, value: int, dtype: DType) -> Whole:
        return Whole(self.z3.IntVal(value, self.context), value, value)

    def variable(self, name: str, dtype: DType, low: int, high: int) -> tuple[Whole, list[Term]]:
        made = self.z3.Int(name, self.context)
        return Whole(made, low, high), [made >= low, made <= high]

    def known(self, term: Term, dtype: DType) -> tuple[Whole, list[Term]]:
        return Whole(term, dtype.low, dtype.high), [term >= dtype.low, term <= dtype.high]

    def value(self, number: Whole, dtype: DType) -> Term:
        return self._exact(number, dtype).term

    def limits(self, number: Whole, dtype: DType) -> tuple[int, int]:
        """Return numbers that the value certainly lies between."""
        exact = self._exact(number, dtype)
        return exact.low, exact.high

    def lane(self, term: Whole, dtype: DType) -> Whole:
        return term

    def negated(self, a: Whole, dtype: DType) -> Whole:
        return Whole(-a.term, -a.high, -a.low)

    def inverted(self, a: Whole, dtype: DType) -> Whole:
        return Whole(-a.term - 1, -a.high - 1, -a.low - 1)

    def chosen(self, cond: Term, a: Whole, b: Whole, dtype: DType) -> Whole:
        return Whole(self.z3.If(cond, a.term, b.term), min(a.low, b.low), max(a.high, b.high))

    def converted(self, a: Whole, source: DType, target: DType) -> Whole:
        # Equal modulo 2**source.bits is enough for a type that is no wider.
        return a if target.bits <= source.bits else self._exact(a, source)

    def whole(self, a: Whole, dtype: DType) -> Term:
        return self.value(a, dtype)

    def read(self, value: Term, dtype: DType) -> int:
        return value.as_long()

    def compared(self, cls: type[Binary], a: Whole, b: Whole, dtype: DType) -> Term:
        x, y = self.value(a, dtype), self.value(b, dtype)
        if cls is EQ:
            return x == y
        if cls is NE:
            return x != y
        if cls is LT:
            return x < y
        if cls is LE:
            return x <= y
        assert cls in (GT, GE)
        return x > y if cls is GT else x >= y

    def operation(self, cls: type[Binary], a: Whole, b: Whole, dtype: DType) -> Whole:
        if cls is Add:
            return Whole(a.term + b.term, a.low + b.low, a.high + b.high)
        if cls is Sub:
            return Whole(a.term - b.term, a.low - b.high, a.high - b.low)
        if cls is Mul:
            corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return Whole(a.term * b.term, min(corners), max(corners))
        x, y = self._exact(a, dtype), self._exact(b, dtype)
        if cls is FloorDiv:
            return self._quotient(x, y)
        if cls is FloorMod:
            return self._remainder(x, y)
        if cls is Min:
            term = self.z3.If(x.term < y.term, x.term, y.term)
            return Whole(term, min(x.low, y.low), min(x.high, y.high))
        if cls is Max:
            term = self.z3.If(x.term > y.term, x.term, y.term)
            return Whole(term, max(x.low, y.low), max(x.high, y.high))
        return self._bits(cls, x, y, dtype)

    def _bits(self, cls: type[Binary], x: Whole, y: Whole, dtype: DType) -> Whole:
        by = y.constant
        if by is not None and cls in (Shl, Shr):
            inside = 0 <= by < dtype.bits
            if cls is Shl:
                return self.operation(Mul, x, self.number(1 << by if inside else 0, dtype), dtype)
            return self._quotient(x, self.number(1 << (by if inside else dtype.bits), dtype))
        if cls is BitAnd:
            for mask, other in ((by, x), (x.constant, y)):
                if mask is not None and mask >= 0 and mask & (mask + 1) == 0:
                    return self._remainder(other, self.number(mask + 1, dtype))
        if cls in (Shl, Shr) and y.low >= 0 and y.high < dtype.bits:
            return self._shifted(cls, x, y, dtype)
        if cls in _BITWISE and min(x.low, y.low) >= 0:
            width = max(x.high, y.high).bit_length()
            if width <= MOST_BITS:
                return self._bit_by_bit(cls, x, y, width)
        raise Abstract(cls.__name__)

    def _shifted(self, cls: type[Binary], x: Whole, y: Whole, dtype: DType) -> Whole:
        """Choose among the shifts by each number of bits that is possible."""
        found: Whole | None = None
        for by in range(y.low, y.high + 1):
            power = self.number(1 << by, dtype)
            one = self.operation(Mul, x, power, dtype) if cls is Shl else self._quotient(x, power)
            found = one if found is None else self.chosen(y.term == by, one, found, dtype)
        assert found is not None
        return found

    def _bit_by_bit(self, cls: type[Binary], x: Whole, y: Whole, width: int) -> Whole:
        z3, total = self.z3, self.z3.IntVal(0, self.context)
        for bit in range(width):
            one, other = ((side.term / (1 << bit)) % 2 == 1 for side in (x, y))
            total = total + z3.If(_BITWISE[cls](z3, one, other), 1 << bit, 0)
        return Whole(total, 0, (1 << width) - 1)

    def called(self, name: str, args: list[Whole], dtype: DType) -> Whole:
        x = self._exact(args[0], dtype)
        if name == "abs":
            term = x.term if x.low >= 0 else self.z3.If(x.term < 0, -x.term, x.term)
            least = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
            return Whole(term, least, max(abs(x.low), abs(x.high)))
        if name == "sign":
            z3 = self.z3
            number = [z3.IntVal(value, self.context) for value in (-1, 0, 1)]
            below = z3.If(x.term < 0, number[0], number[1])
            return Whole(z3.If(x.term > 0, number[2], below), -1, 1)
        if name == "mul_sat":
            return self._saturated(x, self._exact(args[1], dtype), dtype)
        if name in ("truncdiv", "truncmod"):
            y = self._exact(args[1], dtype)
            found = self._truncated(x, y)
            return found if name == "truncdiv" else self._rest(x, found, y)
        raise Abstract(name)

    def _saturated(self, x: Whole, y: Whole, dtype: DType) -> Whole:
        z3, exact = self.z3, self.operation(Mul, x, y, dtype)
        low, high = (z3.IntVal(end, self.context) for end in (dtype.low, dtype.high))
        term = z3.If(exact.term > high, high, z3.If(exact.term < low, low, exact.term))
        return Whole(term, max(exact.low, dtype.low), min(exact.high, dtype.high))

    def _truncated(self, x: Whole, y: Whole) -> Whole:
        """Divide magnitudes, and give the quotient its sign."""
        z3 = self.z3
        size, by = z3.If(x.term < 0, -x.term, x.term), z3.If(y.term < 0, -y.term, y.term)
        found = z3.If((x.term < 0) != (y.term < 0), -(size / by), size / by)
        zero = z3.IntVal(0, self.context)
        most = max(abs(x.low), abs(x.high))
        return Whole(z3.If(y.term == 0, zero, found), -most, most)

    def _rest(self, x: Whole, quotient: Whole, y: Whole) -> Whole:
        term = x.term - quotient.term * y.term
        zero = self.z3.IntVal(0, self.context)
        most = max(abs(y.low), abs(y.high))
        return Whole(self.z3.If(y.term == 0, zero, term), -most, most)

    def _quotient(self, x: Whole, y: Whole) -> Whole:
        """Divide, rounding down; z3 rounds so that the remainder is not negative."""
        by = y.constant
        if by == 0:
            return Whole(self.z3.IntVal(0, self.context), 0, 0)
        if by is not None and by < 0:
            return self._quotient(Whole(-x.term, -x.high, -x.low), Whole(-y.term, -by, -by))
        if by is not None or y.low > 0:
            ends = [n // d for n in (x.low, x.high) for d in (y.low, y.high)]
            return Whole(x.term if by == 1 else x.term / y.term, min(ends), max(ends))
        up = self.z3.If(y.term < 0, (-x.term) / (-y.term), self.z3.IntVal(0, self.context))
        most = max(abs(x.low), abs(x.high))
        return Whole(self.z3.If(y.term > 0, x.term / y.term, up), -most, most)

    def _remainder(self, x: Whole, y: Whole) -> Whole:
        by, zero = y.constant, self.z3.IntVal(0, self.context)
        if by in (0, 1, -1):
            return Whole(zero, 0, 0)
        if by is not None and by < 0:
            made = self._remainder(Whole(-x.term, -x.high, -x.low), Whole(-y.term, -by, -by))
            return Whole(-made.term, -made.high, -made.low)
        if by is not None or y.low > 0:
            if x.low >= 0 and x.high < y.low:
                return x
            return Whole(x.term % y.term, 0, y.high - 1)
        down = self.z3.If(y.term < 0, -((-x.term) % (-y.term)), zero)
        most = max(abs(y.low), abs(y.high))
        return Whole(self.z3.If(y.term > 0, x.term % y.term, down), -most, most)

    def _exact(self, a: Whole, dtype: DType) -> Whole:
        """Reduce a number to its type, unless it is certain to be in it."""
        low, high, size = dtype.low, dtype.high, 1 << dtype.bits
        if low <= a.low and a.high <= high:
            return a
        if a.low - low >= -size and a.high - high <= size:  # It wraps around at most once.
            z3, term = self.z3, a.term
            if a.high > high:
                term = z3.If(a.term > high, a.term - size, term)
            if a.low < low:
                term = z3.If(a.term < low, a.term + size, term)
            return Whole(term, low, high)
        moved = a.term - low if low else a.term
        rest = moved % self.z3.IntVal(size, self.context)
        return Whole(rest + low if low else rest, low, high)
