"""Conversions of floats to integers by comparisons, for languages that leave them undefined.

Source: docs/semantics.md: out of range gives the nearest integer of the type, NaN gives 0.
"""

import math

from irkit.ir.conditional import Select
from irkit.ir.dtype import BOOL, F32, DType
from irkit.ir.expr import EQ, GT, LT, Broadcast, Cast, Const, Expr, const

_DIGITS = {32: 24, 64: 53}
"""Binary digits of the mantissa, by the width of a float."""


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
