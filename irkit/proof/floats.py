"""Floats as the vectors of their bits, with the operations that are exact on bits.

All others are uninterpreted functions: the same operation on the same operands gives the same
value, and nothing else is known. A NaN of any sign and payload is the same as any other.
"""

from typing import Any

import numpy as np

from irkit.ir import (
    EQ,
    GE,
    GT,
    LT,
    NE,
    Add,
    Binary,
    Const,
    Div,
    DType,
    Expr,
    Max,
    Min,
    Mul,
    Sub,
    evaluate,
    numpy_dtype,
)
from irkit.proof.algebra import Term
from irkit.proof.solver import z3_module

_MANTISSA = {("f", 16): 10, ("bf", 16): 7, ("f", 32): 23, ("f", 64): 52}
_NEUTRAL: dict[type[Binary], float] = {Add: -0.0, Sub: 0.0, Mul: 1.0, Div: 1.0}
COMMUTES = (Add, Mul)
"""Operations that round the same in either order of operands."""


def bits_of(value: Any, dtype: DType) -> int:
    """Return the bits of a NumPy float, or of a number rounded to a float type."""
    found = evaluate(Const(value, dtype)) if isinstance(value, float) else value
    return int(np.asarray(found, numpy_dtype(dtype)).reshape(1).view(f"u{dtype.bytes}")[0])


def number_of(bits: int, dtype: DType) -> float:
    """Return the float that has some bits, as a number of Python."""
    return float(np.array([bits], f"u{dtype.bytes}").view(numpy_dtype(dtype))[0])


class Floats:
    """Operations on the bits of floats, as terms of z3."""

    def __init__(self, context: Any) -> None:
        self.z3 = z3_module()
        self.context = context

    def sort(self, dtype: DType) -> Any:
        return self.z3.BitVecSort(dtype.bits, self.context)

    def number(self, value: float, dtype: DType) -> Term:
        return self.bits(bits_of(value, dtype), dtype)

    def bits(self, value: int, dtype: DType) -> Term:
        return self.z3.BitVecVal(value, dtype.bits, self.context)

    def constant(self, term: Term, dtype: DType) -> Expr | None:
        """Return a term that is a number as a constant."""
        if not self.z3.is_bv_value(term):
            return None
        return Const(number_of(term.as_long(), dtype), dtype)

    def negated(self, a: Term, dtype: DType) -> Term:
        return a ^ self.bits(1 << (dtype.bits - 1), dtype)

    def magnitude(self, a: Term, dtype: DType) -> Term:
        return a & self.bits((1 << (dtype.bits - 1)) - 1, dtype)

    def is_zero(self, a: Term, dtype: DType) -> Term:
        return self.magnitude(a, dtype) == 0

    def is_nan(self, a: Term, dtype: DType) -> Term:
        return self.z3.UGT(self.magnitude(a, dtype), self._infinity(dtype))

    def same(self, a: Term, b: Term, dtype: DType) -> Term:
        """Return that two floats are the same: bit by bit, or both NaN."""
        z3 = self.z3
        return z3.Or(a == b, z3.And(self.is_nan(a, dtype), self.is_nan(b, dtype)))

    def compared(self, cls: type[Binary], a: Term, b: Term, dtype: DType) -> Term:
        z3 = self.z3
        ordered = z3.And(z3.Not(self.is_nan(a, dtype)), z3.Not(self.is_nan(b, dtype)))
        both_zero = z3.And(self.is_zero(a, dtype), self.is_zero(b, dtype))
        equal = z3.And(ordered, z3.Or(a == b, both_zero))
        if cls is EQ:
            return equal
        if cls is NE:
            return z3.Not(equal)
        if cls in (GT, GE):
            a, b = b, a
        less = z3.And(ordered, z3.Not(both_zero), z3.ULT(self._key(a, dtype), self._key(b, dtype)))
        return less if cls in (LT, GT) else z3.Or(less, equal)

    def extremum(self, cls: type[Binary], a: Term, b: Term, dtype: DType) -> Term:
        wins = self.compared(LT if cls is Min else GT, a, b, dtype)
        assert cls in (Min, Max)
        return self.z3.If(self.z3.Or(wins, self.is_nan(a, dtype)), a, b)

    def without_neutral(self, cls: type[Binary], a: Term, b: Term, dtype: DType) -> Term | None:
        """Return the operand that an operation with a neutral one gives back, bit by bit."""
        value = _NEUTRAL.get(cls)
        if value is None:
            return None
        neutral = self.number(value, dtype)
        if b.eq(neutral):
            return a
        return b if cls in COMMUTES and a.eq(neutral) else None

    def called(self, name: str, x: Term, dtype: DType) -> Term | None:
        """Return the result of a function that is exact on bits, or None."""
        z3 = self.z3
        if name == "abs":
            return self.magnitude(x, dtype)
        if name == "isnan":
            return self.is_nan(x, dtype)
        if name == "isinf":
            return self.magnitude(x, dtype) == self._infinity(dtype)
        if name == "isfinite":
            return z3.ULT(self.magnitude(x, dtype), self._infinity(dtype))
        if name == "sign":
            zero, one, less = (self.number(value, dtype) for value in (0.0, 1.0, -1.0))
            size = z3.If(self.is_zero(x, dtype), zero, z3.If(x < 0, less, one))
            return z3.If(self.is_nan(x, dtype), x, size)
        return None

    def _infinity(self, dtype: DType) -> Term:
        mantissa = _MANTISSA[dtype.kind, dtype.bits]
        return self.bits(((1 << (dtype.bits - 1 - mantissa)) - 1) << mantissa, dtype)

    def _key(self, a: Term, dtype: DType) -> Term:
        """Return an unsigned number that orders floats by value, apart from zeros and NaN."""
        sign = self.bits(1 << (dtype.bits - 1), dtype)
        return self.z3.If(a < 0, ~a, a | sign)
