"""Arithmetic on the lanes of one float type, as expansions of functions use it.

Scalars and vectors get the same operations, none of which may be contracted or reordered later, so
a number has the same result in every loop, and in every kind of code that fuses the same
operations.
"""

import struct
from typing import Union

from irkit.ir.conditional import Select
from irkit.ir.dtype import BOOL, F64, I32, I64, U32, U64, DType
from irkit.ir.expr import (
    EQ,
    GE,
    GT,
    LT,
    NE,
    Add,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Cast,
    Compare,
    Const,
    Div,
    Expr,
    Mul,
    Neg,
    Shl,
    Shr,
    Sub,
    const,
)
from irkit.ir.intrinsics import Call, Ldexp, Reinterpret
from irkit.ir.math.features import MathFeatures

Number = Union[Expr, float]
Whole = Union[Expr, int]
_TESTS: dict[str, type[Compare]] = {"olt": LT, "ogt": GT, "oge": GE, "oeq": EQ}
_ON_BITS: dict[str, type[Binary]] = {
    "add": Add,
    "sub": Sub,
    "mul": Mul,
    "shl": Shl,
    "lshr": Shr,
    "and": BitAnd,
    "or": BitOr,
    "xor": BitXor,
}


class LaneArithmetic:
    """Builder of arithmetic on f32 or f64, scalar or vector, for the features of a target.

    ``test`` is an ordered predicate of LLVM, such as ``olt``, which is false for NaN; operations on
    bits have the names of LLVM's instructions. Bits are unsigned integers as wide as the floats.
    """

    def __init__(self, dtype: DType, features: MathFeatures) -> None:
        double = dtype.bits == 64
        self.dtype = dtype
        self.whole = (U64 if double else U32).with_lanes(dtype.lanes)
        self.signed = (I64 if double else I32).with_lanes(dtype.lanes)
        self.mantissa = 52 if double else 23
        self.bias = 1023 if double else 127
        self.features = features
        self.scales = features.scales
        self._constants: dict[tuple[str, bytes | int], Expr] = {}

    # Constants.

    def value(self, x: Number) -> Expr:
        """Return a number as a constant, rounded to the type; an expression stays."""
        if isinstance(x, Expr):
            return x
        number = x if self.mantissa == 52 else struct.unpack("<f", struct.pack("<f", x))[0]
        key = "float", struct.pack("<d", number)
        return self._constant(key, number, self.dtype)

    def bits(self, x: Whole) -> Expr:
        """Return an integer as a constant of as many bits as the floats; an expression stays."""
        if isinstance(x, Expr):
            return x
        number = x & ((1 << self.dtype.bits) - 1)
        key = "bits", number
        return self._constant(key, number, self.whole)

    def _constant(self, key: tuple[str, bytes | int], number: float, dtype: DType) -> Expr:
        made = self._constants.get(key)
        if made is None:
            one = Const(number, dtype.element)
            made = self._constants[key] = one if dtype.lanes == 1 else Broadcast(one, dtype)
        return made

    # Floats.

    def _call(self, name: str, *args: Number) -> Expr:
        return Call(name, tuple([self.value(arg) for arg in args]), self.dtype)

    def add(self, a: Number, b: Number) -> Expr:
        return self._call("strict_add", a, b)

    def sub(self, a: Number, b: Number) -> Expr:
        return self._call("strict_sub", a, b)

    def mul(self, a: Number, b: Number) -> Expr:
        return self._call("strict_mul", a, b)

    def div(self, a: Number, b: Number) -> Expr:
        return Div(self.value(a), self.value(b), self.dtype)

    def fma(self, a: Number, b: Number, c: Number) -> Expr:
        """Compute ``a * b + c``, rounded once if the target has an instruction for it."""
        if not self.features.fuses:
            return self.add(self.mul(a, b), c)
        return self._call("muladd", a, b, c)

    def fused(self, a: Number, b: Number, c: Number) -> Expr:
        """Compute ``a * b + c``, rounded once, also where that takes a function."""
        return self._call("fma", a, b, c)

    def neg(self, x: Expr) -> Expr:
        return Neg(x, self.dtype)

    def abs(self, x: Expr) -> Expr:
        return self._call("abs", x)

    def sqrt(self, x: Expr) -> Expr:
        return self._call("sqrt", x)

    def with_sign_of(self, x: Expr, sign: Expr) -> Expr:
        low = (1 << (self.dtype.bits - 1)) - 1
        size = self.integer("and", self.as_bits(x), low)
        return self.from_bits(
            self.integer("or", size, self.integer("and", self.as_bits(sign), low + 1))
        )

    def compare(self, test: str, a: Expr, b: Number) -> Expr:
        return _TESTS[test](a, self.value(b), BOOL.with_lanes(self.dtype.lanes))

    def choose(self, condition: Expr, a: Number, b: Number) -> Expr:
        return Select(condition, self.value(a), self.value(b), self.dtype)

    def ldexp(self, x: Expr, exponent: Expr) -> Expr:
        """Multiply by 2**n in one instruction, where the target ``scales``."""
        return Ldexp(x, Cast(exponent, self.signed), self.dtype)

    # Bits.

    def integer(self, name: str, a: Whole, b: Whole) -> Expr:
        """Compute on bits; ``name`` is an instruction of LLVM, such as ``lshr``."""
        if name == "ashr":
            by = Cast(b, self.signed) if isinstance(b, Expr) else const(b, self.signed)
            return Cast(Shr(Cast(self.bits(a), self.signed), by, self.signed), self.whole)
        return _ON_BITS[name](self.bits(a), self.bits(b), self.whole)

    def as_bits(self, x: Expr) -> Expr:
        return Reinterpret(x, self.whole)

    def from_bits(self, bits: Expr) -> Expr:
        return Reinterpret(bits, self.dtype)

    def is_negative(self, x: Expr) -> Expr:
        """Return whether the sign bit is set; that of -0.0 is."""
        zero = const(0, self.signed)
        test = BOOL.with_lanes(self.dtype.lanes)
        return LT(Cast(self.as_bits(x), self.signed), zero, test)

    def is_odd(self, bits: Expr) -> Expr:
        low = self.integer("and", bits, 1)
        return NE(low, self.bits(0), BOOL.with_lanes(self.dtype.lanes))

    def choose_bits(self, condition: Expr, a: Expr, b: Whole) -> Expr:
        return Select(condition, a, self.bits(b), self.whole)

    # Conversions.

    def widened(self, x: Expr) -> "tuple[LaneArithmetic, Expr]":
        """Convert from f32 to f64."""
        wide = LaneArithmetic(F64.with_lanes(self.dtype.lanes), self.features)
        return wide, Cast(x, wide.dtype)

    def narrowed(self, x: Expr) -> Expr:
        """Convert back from f64, rounding."""
        return Cast(x, self.dtype)

    # What is made of these.

    def polynomial(self, x: Expr, coefficients: tuple[float, ...]) -> Expr:
        """Evaluate a polynomial, highest power first, step by step (Horner)."""
        value: Number = coefficients[0]
        for coefficient in coefficients[1:]:
            value = self.fma(value, x, coefficient)
        return self.value(value)

    def polynomial_by_halves(self, x: Expr, coefficients: tuple[float, ...]) -> Expr:
        """Evaluate a long polynomial in steps that can run in parallel (Estrin).

        Neighbours are joined by x, the results by x**2, and so on. Rounding errors are a little
        larger.
        """
        values: list[Number] = list(reversed(coefficients))
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            rest = values[-1:] if len(values) % 2 else []
            values = [self.fma(high, x, low) for low, high in pairs] + rest
            if len(values) > 1:
                x = self.mul(x, x)
        return self.value(values[0])

    def at_least(self, x: Expr, low: float) -> Expr:
        """Raise lower values to ``low``; NaN stays, unlike with LLVM's maxnum."""
        return self.choose(self.compare("olt", x, low), low, x)

    def at_most(self, x: Expr, high: float) -> Expr:
        return self.choose(self.compare("ogt", x, high), high, x)

    def nearest(self, x: Expr, factor: float = 1.0) -> tuple[Expr, Expr]:
        """Round ``x * factor`` to a whole number, as a float and in the low bits of an integer.

        It works below half of 2**22 (f32) or 2**51 (f64): adding 1.5 * 2**23 leaves no bits for a
        fraction.
        """
        magic = 1.5 * 2.0**self.mantissa
        held = self.add(x, magic) if factor == 1.0 else self.fma(x, factor, magic)
        return self.sub(held, magic), self.as_bits(held)

    def power_of_two(self, exponent: Expr) -> Expr:
        """Compute 2**n of an integer; only the low bits that an exponent has count."""
        biased = self.integer("add", exponent, self.bias)
        return self.from_bits(self.integer("shl", biased, self.mantissa))
