"""Conversions of floats, written out where a language or processor lacks something.

Of floats to integers by comparisons, for languages that leave them undefined: out of range gives
the nearest integer of the type, NaN gives 0. Around arithmetic on floats of 16 bits, which f32
defines; what is exact stays in 16 bits: choices, comparisons and tests, negation, minimum and
maximum. Source: docs/semantics.md.
"""

import math

from irkit.core import any_node, rewrite
from irkit.ir.conditional import Select
from irkit.ir.dtype import BOOL, F32, DType
from irkit.ir.expr import (
    EQ,
    GT,
    LT,
    Add,
    Binary,
    Broadcast,
    Cast,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Mul,
    Sub,
    const,
)
from irkit.ir.function import PrimFunc
from irkit.ir.intrinsics import Call, Ldexp

_DIGITS = {32: 24, 64: 53}
"""Binary digits of the mantissa, by the width of a float."""
_COMPUTED = (Add, Sub, Mul, Div, FloorDiv, FloorMod, Call, Ldexp, Cast)


def needs_saturation(node: Cast) -> bool:
    """Return True if a conversion of a float to an integer may get a number out of range."""
    return node.value.dtype.is_float and node.dtype.is_integer and not is_saturated(node)


def saturated(value: Expr, target: DType) -> Expr:
    """Return the conversion of a float to integers, of which every step is defined in C.

    Shapes: as many lanes as ``value``. ``value`` is used several times.
    """
    if value.dtype.bits == 16:
        value = Cast(value, F32.with_lanes(value.dtype.lanes))
    lanes, kind = value.dtype.lanes, value.dtype
    test = BOOL.with_lanes(lanes)
    bottom, top = _ends(target, kind.bits)
    low, high = const(bottom, kind), const(top, kind)
    below = Select(LT(value, high, test), value, high, kind)
    made: Expr = Cast(Select(GT(value, low, test), below, low, kind), target)
    if int(top) < target.high:  # The largest integer is no float.
        made = Select(GT(value, high, test), const(target.high, target), made, target)
    if target.kind == "u":  # NaN has become the lower end, which is 0.
        return made
    return Select(EQ(value, value, test), made, const(0, target), target)


def is_saturated(node: Cast) -> bool:
    """Return True if a conversion is one that :func:`saturated` made: its operand is in range."""
    target, kind = node.dtype, node.value.dtype
    if not target.is_integer or not kind.is_float or kind.bits == 16:
        return False
    bottom, top = _ends(target, kind.bits)
    match node.value:
        case Select(GT(x, low), Select(LT(y, high), z, above), under):
            ends = _number(low) == _number(under) == bottom, _number(high) == _number(above) == top
            return all(ends) and x is y is z
        case _:
            return False


def _ends(target: DType, bits: int) -> tuple[float, float]:
    """Return the least and the largest float of a width in an integer type."""
    spare = max(0, target.high.bit_length() - _DIGITS[bits])
    return float(target.low), float(target.high >> spare << spare)


def _number(expr: Expr) -> float:
    value = expr.value if isinstance(expr, Broadcast) else expr
    return float(value.value) if isinstance(value, Const) else math.nan


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
