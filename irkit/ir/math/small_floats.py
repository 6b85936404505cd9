"""Arithmetic on floats of 16 bits, which f32 defines: docs/semantics.md.

What is exact stays in 16 bits: choices, comparisons and tests, negation, minimum and maximum.
"""

from irkit.core import any_node, rewrite
from irkit.ir.dtype import F32, DType
from irkit.ir.expr import Add, Binary, Cast, Div, Expr, FloorDiv, FloorMod, Mul, Sub
from irkit.ir.function import PrimFunc
from irkit.ir.intrinsics import Call, Ldexp

_COMPUTED = (Add, Sub, Mul, Div, FloorDiv, FloorMod, Call, Ldexp, Cast)


def with_wide_floats(func: PrimFunc) -> PrimFunc:
    """Return a function that computes in f32 what it computes in 16 bits, and rounds each result;
    the same function if it has no such arithmetic."""
    if not any_node(func, _COMPUTED, _is_narrow):
        return func
    return rewrite(func, _widened, on=_COMPUTED)


def _is_narrow(node: Expr) -> bool:
    """Return True for an operation whose result f32 would hold and 16 bits round."""
    if not _is_small(node.dtype):
        return False
    if isinstance(node, Cast):  # A number of f32 is rounded by the conversion itself.
        source = node.value.dtype
        return source.element not in (F32, node.dtype.element)
    return True


def _widened(node: Expr) -> Expr | None:
    if not _is_narrow(node):
        return None
    wide = F32.with_lanes(node.dtype.lanes)
    match node:
        case Cast(value):
            made: Expr = Cast(value, wide)
        case Binary(a, b):
            made = type(node)(_wide(a), _wide(b), wide)
        case Ldexp(value, exponent):
            made = Ldexp(_wide(value), exponent, wide)
        case Call(name, args):
            made = Call(name, tuple([_wide(arg) for arg in args]), wide)
        case _:
            return None
    return Cast(made, node.dtype)


def _wide(value: Expr) -> Expr:
    return Cast(value, F32.with_lanes(value.dtype.lanes)) if _is_small(value.dtype) else value


def _is_small(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits == 16
