"""exp, tanh and erf of f32 as polynomials in plain arithmetic, so that loops over them vectorise.

The C library takes one number at a time, and LLVM would call it for each lane. Within 5 units in
the last place, which a test holds; where a result is denormal, within one denormal. NaN goes
through: ranges are clamped by comparisons that are false for it.
"""

from collections.abc import Callable

from irkit.codegen.llvm_int import choose, constant
from irkit.codegen.llvm_text import FunctionText
from irkit.codegen.llvm_types import number, value_type
from irkit.ir import I32, DType

Emit = Callable[[FunctionText, DType, list[str], str], str]

_LOG2E = 1.44269504088896341
_MAGIC = 12582912.0  # 1.5 * 2**23: adding it leaves the nearest whole number in the low bits.
_MAGIC_BITS = 0x4B400000
# ln 2 in two parts; the first has 9 bits, so that its product with a small whole number is exact.
_LN2 = (0.693359375, -2.12194440e-4)
# Cephes, expf: e**r = 1 + r + r**2 * p(r) for |r| <= ln(2) / 2.
_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
        5.0000001201e-1)  # fmt: skip
# Rational functions of Eigen: x * p(x**2) / q(x**2), highest power first.
_TANH_P = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
           5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04,
           4.89352455891786e-03)  # fmt: skip
_TANH_Q = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
_ERF_P = (-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06,
          -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03,
          -1.60960333262415e-02)  # fmt: skip
_ERF_Q = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
          -7.37332916720468e-03, -1.42647390514189e-02)  # fmt: skip


class _Float32:
    """Write f32 arithmetic; fused where the machine can, but never reordered."""

    def __init__(self, text: FunctionText, dtype: DType) -> None:
        self.text, self.dtype, self.kind = text, dtype, value_type(dtype)
        self.whole = I32.with_lanes(dtype.lanes)
        self.bits = value_type(self.whole)

    def op(self, name: str, a: str, b: str | float) -> str:
        right = b if isinstance(b, str) else number(b, self.dtype)
        return self.text.op(f"{name} contract {self.kind} {a}, {right}")

    def integer(self, name: str, a: str, b: str | int) -> str:
        right = b if isinstance(b, str) else constant(b, self.whole)
        return self.text.op(f"{name} {self.bits} {a}, {right}")

    def clamp(self, x: str, low: float, high: float) -> str:
        """Keep a value in a range; NaN stays."""
        for test, bound in (("olt", low), ("ogt", high)):
            limit = number(bound, self.dtype)
            beyond = self.text.op(f"fcmp {test} {self.kind} {x}, {limit}")
            x = choose(self.text, self.dtype, beyond, limit, x)
        return x

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        value = number(coefficients[0], self.dtype)
        for coefficient in coefficients[1:]:
            value = self.op("fadd", self.op("fmul", value, x), coefficient)
        return value

    def power_of_two(self, exponent: str) -> str:
        biased = self.integer("shl", self.integer("add", exponent, 127), 23)
        return self.text.op(f"bitcast {self.bits} {biased} to {self.kind}")


def _exp(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    """Write e**x = 2**n * e**r. The scale is applied in two halves, or it would overflow."""
    f = _Float32(text, dtype)
    x = f.clamp(args[0], -104.0, 89.0)
    shifted = f.op("fadd", f.op("fmul", x, _LOG2E), _MAGIC)
    whole = f.op("fsub", shifted, _MAGIC)
    for part in _LN2:
        x = f.op("fsub", x, f.op("fmul", whole, part))
    square = f.op("fmul", x, x)
    tail = f.op("fadd", f.op("fmul", f.polynomial(x, _EXP), square), x)
    value = f.op("fadd", tail, 1.0)
    held = text.op(f"bitcast {f.kind} {shifted} to {f.bits}")
    exponent = f.integer("sub", held, _MAGIC_BITS)
    half = f.integer("ashr", exponent, 1)
    rest = f.integer("sub", exponent, half)
    return f.op("fmul", f.op("fmul", value, f.power_of_two(half)), f.power_of_two(rest))


def _tanh(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    return _rational(text, dtype, args[0], 7.90531110763549805, _TANH_P, _TANH_Q)


def _erf(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    return _rational(text, dtype, args[0], 4.0, _ERF_P, _ERF_Q)


def _rational(
    text: FunctionText,
    dtype: DType,
    given: str,
    limit: float,
    above: tuple[float, ...],
    below: tuple[float, ...],
) -> str:
    f = _Float32(text, dtype)
    x = f.clamp(given, -limit, limit)
    square = f.op("fmul", x, x)
    quotient = f.op("fdiv", f.polynomial(square, above), f.polynomial(square, below))
    return f.op("fmul", x, quotient)  # Last, or a small x would lose digits on the way.


OWN: dict[tuple[str, str], Emit] = {
    ("exp", "f32"): _exp,
    ("tanh", "f32"): _tanh,
    ("erf", "f32"): _erf,
}
