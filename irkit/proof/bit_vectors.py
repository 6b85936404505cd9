"""Integers as bit vectors of z3, exact for every operation of docs/semantics.md."""

from collections.abc import Callable
from typing import Any

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

_WHOLE_BITS = 65
"""Wide enough for the values of i64 and of u64."""
MOST_FACTORS = 64
"""Largest constant exponent of ``pow`` that is written out."""


class BitVectors:
    """The algebra of bit vectors: a number is the vector of its bits."""

    def __init__(self, context: Any) -> None:
        self.z3 = z3_module()
        self.context = context

    def sort(self, dtype: DType) -> Any:
        return self.z3.BitVecSort(dtype.bits, self.context)

    def number(self, value: int, dtype: DType) -> Term:
        return self.z3.BitVecVal(value, dtype.bits, self.context)

    def variable(self, name: str, dtype: DType, low: int, high: int) -> tuple[Term, list[Term]]:
        made = self.z3.BitVec(name, dtype.bits, self.context)
        limits: list[Term] = []
        if low > dtype.low:
            limits.append(self.compared(GE, made, self.number(low, dtype), dtype))
        if high < dtype.high:
            limits.append(self.compared(LE, made, self.number(high, dtype), dtype))
        return made, limits

    def known(self, term: Term, dtype: DType) -> tuple[Term, list[Term]]:
        return term, []

    def value(self, number: Term, dtype: DType) -> Term:
        return number

    def lane(self, term: Term, dtype: DType) -> Term:
        return self._resized(term, dtype.bits, signed=False)

    def negated(self, a: Term, dtype: DType) -> Term:
        return -a

    def inverted(self, a: Term, dtype: DType) -> Term:
        return ~a

    def chosen(self, cond: Term, a: Term, b: Term, dtype: DType) -> Term:
        return self.z3.If(cond, a, b)

    def converted(self, a: Term, source: DType, target: DType) -> Term:
        return self._resized(a, target.bits, signed=source.kind == "i")

    def whole(self, a: Term, dtype: DType) -> Term:
        return self._resized(a, _WHOLE_BITS, signed=dtype.kind == "i")

    def read(self, value: Term, dtype: DType) -> int:
        return value.as_signed_long() if dtype.kind == "i" else value.as_long()

    def compared(self, cls: type[Binary], a: Term, b: Term, dtype: DType) -> Term:
        if cls is EQ:
            return a == b
        if cls is NE:
            return a != b
        if cls in (GT, GE):
            a, b = b, a
        strict = cls in (LT, GT)
        if dtype.kind == "i":
            return a < b if strict else a <= b
        return self.z3.ULT(a, b) if strict else self.z3.ULE(a, b)

    def operation(self, cls: type[Binary], a: Term, b: Term, dtype: DType) -> Term:
        case = _PLAIN.get(cls)
        if case is not None:
            return case(a, b)
        if cls is Shr:
            return a >> b if dtype.kind == "i" else self.z3.LShR(a, b)
        if cls is Min:
            return self.z3.If(self.compared(LT, a, b, dtype), a, b)
        if cls is Max:
            return self.z3.If(self.compared(GT, a, b, dtype), a, b)
        if cls is FloorDiv or cls is FloorMod:
            return self._division(cls, a, b, dtype)
        raise AssertionError(cls)

    def _division(self, cls: type[Binary], a: Term, b: Term, dtype: DType) -> Term:
        z3, zero = self.z3, self.number(0, dtype)
        if z3.is_bv_value(b):
            return self._divided_by(cls, a, self.read(b, dtype), dtype)
        if dtype.kind == "u":
            found = z3.UDiv(a, b) if cls is FloorDiv else z3.URem(a, b)
        elif cls is FloorMod:
            found = a % b  # The sign of the divisor, in z3 too.
        else:
            rest = z3.SRem(a, b)
            inexact = z3.And(rest != zero, (rest < zero) != (b < zero))
            found = z3.If(inexact, a / b - 1, a / b)
        return z3.If(b == zero, zero, found)

    def _divided_by(self, cls: type[Binary], a: Term, by: int, dtype: DType) -> Term:
        """Divide by a constant, which is much easier to reason about."""
        z3, b, quotient = self.z3, self.number(by, dtype), cls is FloorDiv
        if by == 0:
            return self.number(0, dtype)
        if by > 0 and by & (by - 1) == 0:
            if not quotient:
                return a & self.number(by - 1, dtype)
            shift = self.number(by.bit_length() - 1, dtype)
            return a >> shift if dtype.kind == "i" else z3.LShR(a, shift)
        if dtype.kind == "u":
            return z3.UDiv(a, b) if quotient else z3.URem(a, b)
        if not quotient:
            return a % b
        rest = z3.SRem(a, b)
        return z3.If(rest < 0 if by > 0 else rest > 0, a / b - 1, a / b)

    def called(self, name: str, args: list[Term], dtype: DType) -> Term:
        z3, x = self.z3, args[0]
        zero, one = self.number(0, dtype), self.number(1, dtype)
        if name == "abs":
            return x if dtype.kind == "u" else z3.If(x < 0, -x, x)
        if name == "sign":
            positive = z3.If(x == zero, zero, one)
            return positive if dtype.kind == "u" else z3.If(x < 0, -one, positive)
        if name == "popcount":
            return _total([self._bit(x, at) for at in range(dtype.bits)])
        if name == "clz":
            found = self.number(dtype.bits, dtype)
            for at in range(dtype.bits):  # The highest bit decides last.
                is_set = z3.Extract(at, at, x) == 1
                found = z3.If(is_set, self.number(dtype.bits - 1 - at, dtype), found)
            return found
        if name == "pow":
            return self._power(x, args[1], dtype)
        if name in ("truncdiv", "truncmod"):
            return self._truncated(name, x, args[1], dtype)
        if name == "mul_sat":
            return self._saturated(x, args[1], dtype)
        raise Abstract(name)

    def _saturated(self, a: Term, b: Term, dtype: DType) -> Term:
        """Multiply in twice the bits, and keep to the limits of the type."""
        z3, signed = self.z3, dtype.kind == "i"
        bits = 2 * dtype.bits
        exact = self._resized(a, bits, signed=signed) * self._resized(b, bits, signed=signed)
        low, high = (z3.BitVecVal(end, bits, self.context) for end in (dtype.low, dtype.high))
        above = exact > high if signed else z3.UGT(exact, high)
        found = z3.If(above, high, exact)
        found = z3.If(exact < low, low, found) if signed else found
        return self._resized(found, dtype.bits, signed=False)

    def _bit(self, x: Term, at: int) -> Term:
        return self._resized(self.z3.Extract(at, at, x), x.size(), signed=False)

    def _truncated(self, name: str, a: Term, b: Term, dtype: DType) -> Term:
        z3, zero = self.z3, self.number(0, dtype)
        if dtype.kind == "u":
            found = z3.UDiv(a, b) if name == "truncdiv" else z3.URem(a, b)
        else:
            found = a / b if name == "truncdiv" else z3.SRem(a, b)
        return z3.If(b == zero, zero, found)

    def _power(self, a: Term, b: Term, dtype: DType) -> Term:
        z3, one, zero = self.z3, self.number(1, dtype), self.number(0, dtype)
        if z3.is_bv_value(b):
            times = self.read(b, dtype)
            if 0 <= times <= MOST_FACTORS:
                found = one
                for _ in range(times):
                    found = found * a
                return found
        if dtype.bits > 8:
            raise Abstract("pow")
        found, square = one, a
        for at in range(dtype.bits):
            found = z3.If(z3.Extract(at, at, b) == 1, found * square, found)
            square = square * square
        if dtype.kind == "u":
            return found
        odd = z3.If(z3.Extract(0, 0, b) == 1, -one, one)
        unit = z3.If(a == one, one, z3.If(a == -one, odd, zero))
        return z3.If(b < 0, unit, found)

    def _resized(self, term: Term, bits: int, *, signed: bool) -> Term:
        more = bits - term.size()
        if more > 0:
            return (self.z3.SignExt if signed else self.z3.ZeroExt)(more, term)
        return self.z3.Extract(bits - 1, 0, term) if more < 0 else term


def _total(terms: list[Term]) -> Term:
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return found


_PLAIN: dict[type[Binary], Callable[[Term, Term], Term]] = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
    BitAnd: lambda a, b: a & b,
    BitOr: lambda a, b: a | b,
    BitXor: lambda a, b: a ^ b,
    # By the width or more, or by a negative number, which is as large: 0, in z3 too.
    Shl: lambda a, b: a << b,
}
