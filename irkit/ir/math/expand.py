"""The expansion of an expression: what it amounts to in operations that every target has."""

from irkit.ir.dtype import F32, DType
from irkit.ir.expr import Cast, Expr
from irkit.ir.intrinsics import Call, Ldexp
from irkit.ir.math.features import MathFeatures
from irkit.ir.math.lane_arithmetic import LaneArithmetic
from irkit.ir.math.polynomials import POLYNOMIALS
from irkit.ir.math.powers_of_two import scaled


def has_expansion(node: Expr, features: MathFeatures) -> bool:
    """Return True if a target with these features needs the expansion of an expression."""
    if isinstance(node, Ldexp):
        return not features.scales
    if not isinstance(node, Call):
        return False
    return not features.fuses if node.name == "muladd" else _key(node) in POLYNOMIALS


def expansion(node: Expr, features: MathFeatures) -> Expr | None:
    """Return the expansion of an expression for a target, or None if it has none.

    Its leaves are the operands of the expression; parts that are used more than once are shared.
    """
    if not has_expansion(node, features):
        return None
    working = F32.with_lanes(node.dtype.lanes) if node.dtype.bits == 16 else node.dtype
    arithmetic = LaneArithmetic(working, features)
    if isinstance(node, Ldexp):
        made = scaled(arithmetic, _as(node.value, working), node.exponent)
    else:
        assert isinstance(node, Call)
        operands = [_as(arg, working) for arg in node.args]
        expand = LaneArithmetic.fma if node.name == "muladd" else POLYNOMIALS[_key(node)]
        made = expand(arithmetic, *operands)
    return _as(made, node.dtype)


def _key(node: Call) -> tuple[str, str]:
    if not node.dtype.is_float:
        return node.name, ""
    return node.name, "f64" if node.dtype.bits == 64 else "f32"


def _as(value: Expr, dtype: DType) -> Expr:
    return value if value.dtype == dtype else Cast(value, dtype)
