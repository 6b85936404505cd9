"""Functions of floats as arithmetic: one expansion for every kind of code.

Reading order: features (of a target), lane_arithmetic (the operations of a floating-point unit, as
expressions), exponentials, logarithms, trigonometry, inverse_trigonometry, doubles (of f64, where
those of f32 are computed in f64), polynomials (their table), powers_of_two (products by them),
expand (which expressions have an expansion), conversions (to integers, and around arithmetic of f16
and bf16).
"""

from irkit.ir.math.conversions import (
    is_saturated as is_saturated,
    needs_saturation as needs_saturation,
    saturated as saturated,
    with_wide_floats as with_wide_floats,
)
from irkit.ir.math.expand import expansion as expansion, has_expansion as has_expansion
from irkit.ir.math.features import (
    MathFeatures as MathFeatures,
    math_features as math_features,
)
from irkit.ir.math.lane_arithmetic import LaneArithmetic as LaneArithmetic
from irkit.ir.math.polynomials import POLYNOMIALS as POLYNOMIALS
