"""Functions of f32 written as polynomials in plain arithmetic.

Loops over them vectorise, whereas LLVM calls the C library for each lane. A test sweeps each
function and checks the bound in its row of ``INTRINSICS``; a new function is a line here.
"""

from collections.abc import Callable

from irkit.codegen.math import exponentials, inverse_trigonometry, logarithms, trigonometry
from irkit.codegen.math.lane_arithmetic import LaneArithmetic

Expansion = Callable[..., str]
"""A function of a writer of arithmetic and its operands, which returns the result."""


def _rsqrt(f: LaneArithmetic, x: str) -> str:
    return f.div(1.0, f.sqrt(x))


POLYNOMIALS: dict[tuple[str, str], Expansion] = {
    ("exp", "f32"): exponentials.exp,
    ("exp2", "f32"): exponentials.exp2,
    ("expm1", "f32"): exponentials.expm1,
    ("sigmoid", "f32"): exponentials.sigmoid,
    ("tanh", "f32"): exponentials.tanh,
    ("erf", "f32"): exponentials.erf,
    ("log", "f32"): logarithms.log,
    ("log2", "f32"): logarithms.log2,
    ("log10", "f32"): logarithms.log10,
    ("log1p", "f32"): logarithms.log1p,
    ("pow", "f32"): logarithms.power,
    ("sin", "f32"): trigonometry.sin,
    ("cos", "f32"): trigonometry.cos,
    ("tan", "f32"): trigonometry.tan,
    ("sinh", "f32"): exponentials.sinh,
    ("cosh", "f32"): exponentials.cosh,
    ("asinh", "f32"): logarithms.asinh,
    ("acosh", "f32"): logarithms.acosh,
    ("atanh", "f32"): logarithms.atanh,
    ("asin", "f32"): inverse_trigonometry.asin,
    ("acos", "f32"): inverse_trigonometry.acos,
    ("atan", "f32"): inverse_trigonometry.atan,
    ("atan2", "f32"): inverse_trigonometry.atan2,
    ("rsqrt", "f32"): _rsqrt,
}
