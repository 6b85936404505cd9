"""Functions of f32 written as polynomials in plain arithmetic, and their error bounds.

Loops over them vectorise, whereas LLVM calls the C library for each lane. A test sweeps each
function and checks its bound; a new function is a row here.
"""

from collections.abc import Callable

import msgspec

from irkit.codegen.llvm.arithmetic.lane_ops import LaneArithmetic
from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.math import exponentials, inverse_trigonometry, logarithms, trigonometry
from irkit.ir import DType

Emit = Callable[[FunctionText, DType, list[str], str], str]


class PolynomialFunction(msgspec.Struct, frozen=True):
    """Emitter of a function, and its error bound.

    Units: ``ulps`` counts the distance between f32 numbers at the true value, or between denormals
    for smaller values.
    """

    emit: Emit
    ulps: float


def _rsqrt(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    f = LaneArithmetic(text, dtype)
    return f.div(1.0, text.intrinsic("sqrt", f.kind, *args))


POLYNOMIALS: dict[tuple[str, str], PolynomialFunction] = {
    ("exp", "f32"): PolynomialFunction(exponentials.exp, 1.1),
    ("exp2", "f32"): PolynomialFunction(exponentials.exp2, 1.1),
    ("expm1", "f32"): PolynomialFunction(exponentials.expm1, 1.6),
    ("sigmoid", "f32"): PolynomialFunction(exponentials.sigmoid, 2.5),
    ("tanh", "f32"): PolynomialFunction(exponentials.tanh, 2.5),
    ("erf", "f32"): PolynomialFunction(exponentials.erf, 1.3),
    ("log", "f32"): PolynomialFunction(logarithms.log, 1.0),
    ("log2", "f32"): PolynomialFunction(logarithms.log2, 2.4),
    ("log10", "f32"): PolynomialFunction(logarithms.log10, 2.4),
    ("log1p", "f32"): PolynomialFunction(logarithms.log1p, 1.5),
    ("pow", "f32"): PolynomialFunction(logarithms.power, 0.6),
    ("sin", "f32"): PolynomialFunction(trigonometry.sin, 0.6),
    ("cos", "f32"): PolynomialFunction(trigonometry.cos, 0.6),
    ("tan", "f32"): PolynomialFunction(trigonometry.tan, 0.6),
    ("sinh", "f32"): PolynomialFunction(exponentials.sinh, 2.3),
    ("cosh", "f32"): PolynomialFunction(exponentials.cosh, 1.6),
    ("asinh", "f32"): PolynomialFunction(logarithms.asinh, 0.6),
    ("acosh", "f32"): PolynomialFunction(logarithms.acosh, 0.6),
    ("atanh", "f32"): PolynomialFunction(logarithms.atanh, 0.6),
    ("asin", "f32"): PolynomialFunction(inverse_trigonometry.asin, 2.4),
    ("acos", "f32"): PolynomialFunction(inverse_trigonometry.acos, 1.5),
    ("atan", "f32"): PolynomialFunction(inverse_trigonometry.atan, 0.6),
    ("atan2", "f32"): PolynomialFunction(inverse_trigonometry.atan2, 0.6),
    ("rsqrt", "f32"): PolynomialFunction(_rsqrt, 1.5),
}
