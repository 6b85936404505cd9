"""Arithmetic on the lanes of one float type, as expansions of functions use it.

Every operation exists for vectors. Scalars and vectors get the same operations, none of which may
be fused or reordered later, so a number has the same result in every loop, and in every kind of
code that fuses the same operations. Values are texts: names or constants of the code that is
written.
"""

from abc import ABC, abstractmethod

from irkit.ir import I32, I64, DType


class LaneArithmetic(ABC):
    """Writer of arithmetic on f32 or f64, scalar or vector; a kind of code is a subclass.

    ``fuses`` says whether ``a * b + c`` is rounded once, ``scales`` whether the target multiplies
    by a power of two in one instruction.
    """

    def __init__(self, dtype: DType, *, fuses: bool, scales: bool) -> None:
        double = dtype.bits == 64
        self.dtype = dtype
        self.whole = (I64 if double else I32).with_lanes(dtype.lanes)
        self.mantissa = 52 if double else 23
        self.bias = 1023 if double else 127
        self.fuses = fuses
        self.scales = scales

    @abstractmethod
    def value(self, x: str | float) -> str:
        """Return a number as a constant; a value stays."""

    @abstractmethod
    def add(self, a: str | float, b: str | float) -> str: ...

    @abstractmethod
    def sub(self, a: str | float, b: str | float) -> str: ...

    @abstractmethod
    def mul(self, a: str | float, b: str | float) -> str: ...

    @abstractmethod
    def div(self, a: str | float, b: str | float) -> str: ...

    @abstractmethod
    def fused(self, a: str | float, b: str | float, c: str | float) -> str:
        """Compute ``a * b + c``, rounded once."""

    @abstractmethod
    def neg(self, x: str) -> str: ...

    @abstractmethod
    def abs(self, x: str) -> str: ...

    @abstractmethod
    def sqrt(self, x: str) -> str: ...

    @abstractmethod
    def with_sign_of(self, x: str, sign: str) -> str: ...

    @abstractmethod
    def integer(self, name: str, a: str | int, b: str | int) -> str:
        """Compute on integers as wide as the floats; ``name`` is an instruction of LLVM, such as
        ``lshr``."""

    @abstractmethod
    def as_bits(self, x: str) -> str: ...

    @abstractmethod
    def from_bits(self, bits: str) -> str: ...

    @abstractmethod
    def compare(self, test: str, a: str, b: str | float) -> str:
        """Compare; ``test`` is a predicate of LLVM, such as ``olt``, which is false for NaN."""

    @abstractmethod
    def compare_bits(self, test: str, a: str, b: int) -> str: ...

    @abstractmethod
    def choose(self, condition: str, a: str | float, b: str | float) -> str: ...

    @abstractmethod
    def choose_bits(self, condition: str, a: str, b: int) -> str: ...

    @abstractmethod
    def ldexp(self, x: str, exponent: str) -> str:
        """Multiply by 2**n in one instruction, where the target ``scales``."""

    @abstractmethod
    def widened(self, x: str) -> "tuple[LaneArithmetic, str]":
        """Convert from f32 to f64."""

    @abstractmethod
    def narrowed(self, wide: "LaneArithmetic", x: str) -> str:
        """Convert back from f64, rounding."""

    def fma(self, a: str | float, b: str | float, c: str | float) -> str:
        """Compute ``a * b + c``, rounded once if the target has an instruction for it."""
        return self.fused(a, b, c) if self.fuses else self.add(self.mul(a, b), c)

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """Evaluate a polynomial, highest power first, step by step (Horner)."""
        value: str | float = coefficients[0]
        for coefficient in coefficients[1:]:
            value = self.fma(value, x, coefficient)
        return self.value(value)

    def polynomial_by_halves(self, x: str, coefficients: tuple[float, ...]) -> str:
        """Evaluate a long polynomial in steps that can run in parallel (Estrin).

        Neighbours are joined by x, the results by x**2, and so on. Rounding errors are a little
        larger.
        """
        values: list[str | float] = list(reversed(coefficients))
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            rest = values[-1:] if len(values) % 2 else []
            values = [self.fma(high, x, low) for low, high in pairs] + rest
            if len(values) > 1:
                x = self.mul(x, x)
        return self.value(values[0])

    def at_least(self, x: str, low: float) -> str:
        """Raise lower values to ``low``; NaN stays, unlike with LLVM's maxnum."""
        return self.choose(self.compare("olt", x, low), low, x)

    def at_most(self, x: str, high: float) -> str:
        return self.choose(self.compare("ogt", x, high), high, x)

    def nearest(self, x: str, factor: float = 1.0) -> tuple[str, str]:
        """Round ``x * factor`` to a whole number, as a float and in the low bits of an integer.

        It works below half of 2**22 (f32) or 2**51 (f64): adding 1.5 * 2**23 leaves no bits for a
        fraction.
        """
        magic = 1.5 * 2.0**self.mantissa
        held = self.add(x, magic) if factor == 1.0 else self.fma(x, factor, magic)
        return self.sub(held, magic), self.as_bits(held)

    def power_of_two(self, exponent: str) -> str:
        """Compute 2**n of an integer; only the low bits that an exponent has count."""
        biased = self.integer("add", exponent, self.bias)
        return self.from_bits(self.integer("shl", biased, self.mantissa))
