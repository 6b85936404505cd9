"""Arithmetic on the lanes of one float type, for polynomials.

Every operation exists for vectors. Scalars and vectors get the same operations, none of which may
be fused or reordered later, so a number has the same result in every loop.
"""

from irkit.codegen.llvm.arithmetic.integer_ops import choose, constant
from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.builder.types import number, value_type
from irkit.ir import BOOL, F64, I32, I64, DType

_FUSES = ("aarch64", "arm64", "amdgcn", "nvptx")


class LaneArithmetic:
    """Builder of arithmetic on f32 or f64, scalar or vector."""

    def __init__(self, text: FunctionText, dtype: DType) -> None:
        double = dtype.bits == 64
        self.text, self.dtype, self.kind = text, dtype, value_type(dtype)
        self.whole = (I64 if double else I32).with_lanes(dtype.lanes)
        self.bits = value_type(self.whole)
        self.mantissa = 52 if double else 23
        self.bias = 1023 if double else 127
        self._fuses = text.module.has_feature("fma") or text.module.target.triple.startswith(_FUSES)

    def value(self, x: str | float) -> str:
        return x if isinstance(x, str) else number(x, self.dtype)

    def _op(self, name: str, a: str | float, b: str | float) -> str:
        return self.text.op(f"{name} {self.kind} {self.value(a)}, {self.value(b)}")

    def add(self, a: str | float, b: str | float) -> str:
        return self._op("fadd", a, b)

    def sub(self, a: str | float, b: str | float) -> str:
        return self._op("fsub", a, b)

    def mul(self, a: str | float, b: str | float) -> str:
        return self._op("fmul", a, b)

    def div(self, a: str | float, b: str | float) -> str:
        return self._op("fdiv", a, b)

    def fma(self, a: str | float, b: str | float, c: str | float) -> str:
        """Compute ``a * b + c``, rounded once if the target has an instruction for it."""
        if not self._fuses:
            return self.add(self.mul(a, b), c)
        return self.text.intrinsic("fma", self.kind, *(self.value(x) for x in (a, b, c)))

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

    def integer(self, name: str, a: str | int, b: str | int) -> str:
        left, right = (x if isinstance(x, str) else constant(x, self.whole) for x in (a, b))
        return self.text.op(f"{name} {self.bits} {left}, {right}")

    def as_bits(self, x: str) -> str:
        return self.text.op(f"bitcast {self.kind} {x} to {self.bits}")

    def from_bits(self, bits: str) -> str:
        return self.text.op(f"bitcast {self.bits} {bits} to {self.kind}")

    def compare(self, test: str, a: str, b: str | float) -> str:
        """Compare; ``test`` is a predicate of LLVM, such as ``olt``, which is false for NaN."""
        return self.text.op(f"fcmp {test} {self.kind} {a}, {self.value(b)}")

    def compare_bits(self, test: str, a: str, b: int) -> str:
        return self.text.op(f"icmp {test} {self.bits} {a}, {constant(b, self.whole)}")

    def logical(self, name: str, a: str, b: str) -> str:
        """Combine two conditions by ``and``, ``or`` or ``xor``."""
        return self.text.op(f"{name} {value_type(BOOL.with_lanes(self.dtype.lanes))} {a}, {b}")

    def choose(self, condition: str, a: str | float, b: str | float) -> str:
        return choose(self.text, self.dtype, condition, self.value(a), self.value(b))

    def at_least(self, x: str, low: float) -> str:
        """Raise lower values to ``low``; NaN stays, unlike with LLVM's maxnum."""
        return self.choose(self.compare("olt", x, low), low, x)

    def at_most(self, x: str, high: float) -> str:
        return self.choose(self.compare("ogt", x, high), high, x)

    def abs(self, x: str) -> str:
        return self.text.intrinsic("fabs", self.kind, x)

    def with_sign_of(self, x: str, sign: str) -> str:
        return self.text.intrinsic("copysign", self.kind, x, sign)

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

    def widened(self, x: str) -> tuple["LaneArithmetic", str]:
        """Convert from f32 to f64."""
        wide = LaneArithmetic(self.text, F64.with_lanes(self.dtype.lanes))
        return wide, self.text.op(f"fpext {self.kind} {x} to {wide.kind}")

    def narrowed(self, wide: "LaneArithmetic", x: str) -> str:
        """Convert back from f64, rounding."""
        return self.text.op(f"fptrunc {wide.kind} {x} to {self.kind}")
