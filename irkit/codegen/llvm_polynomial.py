"""The functions of f32 that are written as polynomials in plain arithmetic, so that loops over them
vectorise, with how far each may be from the true value.

The C library takes one number at a time, and LLVM would call it for each lane. A test sweeps each
function and holds it to its bound; a new one is a row here.
"""

from collections.abc import Callable

import msgspec

from irkit.codegen import llvm_arc, llvm_exp, llvm_log, llvm_trig
from irkit.codegen.llvm_lanes import Lanes
from irkit.codegen.llvm_text import FunctionText
from irkit.ir import DType

Emit = Callable[[FunctionText, DType, list[str], str], str]


class Own(msgspec.Struct, frozen=True):
    """How a function is written, and within which bound.

    Units: ``ulps`` counts the distance between f32 numbers where the true value lies; that of the
    denormals for what is smaller.
    """

    emit: Emit
    ulps: float


def _rsqrt(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    f = Lanes(text, dtype)
    return f.div(1.0, text.intrinsic("sqrt", f.kind, *args))


OWN: dict[tuple[str, str], Own] = {
    ("exp", "f32"): Own(llvm_exp.exp, 1.1),
    ("exp2", "f32"): Own(llvm_exp.exp2, 1.1),
    ("expm1", "f32"): Own(llvm_exp.expm1, 1.6),
    ("sigmoid", "f32"): Own(llvm_exp.sigmoid, 2.5),
    ("tanh", "f32"): Own(llvm_exp.tanh, 2.5),
    ("erf", "f32"): Own(llvm_exp.erf, 1.3),
    ("log", "f32"): Own(llvm_log.log, 1.0),
    ("log2", "f32"): Own(llvm_log.log2, 2.4),
    ("log10", "f32"): Own(llvm_log.log10, 2.4),
    ("log1p", "f32"): Own(llvm_log.log1p, 1.5),
    ("pow", "f32"): Own(llvm_log.power, 0.6),
    ("sin", "f32"): Own(llvm_trig.sin, 0.6),
    ("cos", "f32"): Own(llvm_trig.cos, 0.6),
    ("tan", "f32"): Own(llvm_trig.tan, 0.6),
    ("sinh", "f32"): Own(llvm_exp.sinh, 2.3),
    ("cosh", "f32"): Own(llvm_exp.cosh, 1.6),
    ("asinh", "f32"): Own(llvm_log.asinh, 0.6),
    ("acosh", "f32"): Own(llvm_log.acosh, 0.6),
    ("atanh", "f32"): Own(llvm_log.atanh, 0.6),
    ("asin", "f32"): Own(llvm_arc.asin, 2.4),
    ("acos", "f32"): Own(llvm_arc.acos, 1.5),
    ("atan", "f32"): Own(llvm_arc.atan, 0.6),
    ("atan2", "f32"): Own(llvm_arc.atan2, 0.6),
    ("rsqrt", "f32"): Own(_rsqrt, 1.5),
}
