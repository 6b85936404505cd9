"""Functions of f32 written as polynomials in plain arithmetic.

Loops over them vectorise, whereas LLVM calls the C library for each lane. A test sweeps each
function and checks the bound in its row of ``INTRINSICS``; a new function is a line here.
"""

from collections.abc import Callable

from irkit.ir.expr import Expr
from irkit.ir.math import (
    exponentials,
    inverse_trigonometry,
    logarithms,
    trigonometry,
)
from irkit.ir.math.doubles import arcs, powers, waves
from irkit.ir.math.lane_arithmetic import LaneArithmetic

Expansion = Callable[..., Expr]
"""A function of a builder of arithmetic and its operands, which returns the result."""


def _rsqrt(f: LaneArithmetic, x: Expr) -> Expr:
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
    ("exp", "f64"): exponentials.exp,
    ("exp2", "f64"): exponentials.exp2,
    ("expm1", "f64"): exponentials.expm1,
    ("sigmoid", "f64"): exponentials.sigmoid,
    ("tanh", "f64"): exponentials.tanh,
    ("erf", "f64"): exponentials.erf,
    ("log", "f64"): logarithms.log,
    ("log2", "f64"): logarithms.log2,
    ("log10", "f64"): logarithms.log10,
    ("log1p", "f64"): logarithms.log1p,
    ("pow", "f64"): powers.power,
    ("sin", "f64"): waves.sin,
    ("cos", "f64"): waves.cos,
    ("tan", "f64"): waves.tan,
    ("sinh", "f64"): exponentials.sinh,
    ("cosh", "f64"): exponentials.cosh,
    ("asinh", "f64"): powers.asinh,
    ("acosh", "f64"): powers.acosh,
    ("atanh", "f64"): powers.atanh,
    ("asin", "f64"): inverse_trigonometry.asin,
    ("acos", "f64"): inverse_trigonometry.acos,
    ("atan", "f64"): arcs.atan,
    ("atan2", "f64"): arcs.atan2,
    ("rsqrt", "f64"): _rsqrt,
}
