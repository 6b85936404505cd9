"""Samples that apply functions of floats to values at the edges of their types."""

import numpy as np

from irkit import te
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.functions import ON_FLOATS
from irkit.fuzz.generators.reference.bounded_array import ulp_of, ulps_of
from irkit.fuzz.generators.sample import Array, Sample
from irkit.fuzz.picks import Picks
from irkit.ir import INTRINSICS, DType, Expr, as_dtype, call, cast
from irkit.phases import DEFAULT

_MOST_FUNCTIONS = 4
_NARROW = ("f16", "bf16")
_NAMES = (*ON_FLOATS, "bool", *_NARROW)
"""The functions that are drawn; the last three are conversions."""
_ROUNDED_TWICE = tuple(
    sign * scale * (1 + odd * 2.0**-bits + off)
    for bits in (11, 8)
    for odd in (1, 3)
    for off in (2.0**-40, -(2.0**-40), 2.0**-24, 0.0)
    for sign, scale in ((1, 1.0), (-1, 0.5), (1, 2.0**9))
)
"""Numbers near a tie of 16-bit floats, which rounding to f32 first makes one."""


def draw_functions(picks: Picks) -> Sample:
    """Draw up to 4 functions of one array of special values, with tolerances."""
    dtype = picks.pick(("f32", "f64", "f16", "bf16"))
    shape = (picks.pick((17, 5, 33)),)
    a, b = (te.placeholder(shape, dtype, name=name) for name in "AB")
    names = list(picks.some(_NAMES, _MOST_FUNCTIONS))
    if dtype in ("f64", "f32") and picks.below(2):
        names.append(picks.pick(_NARROW))

    def applied(name: str, at: int) -> te.Tensor:
        def value(i: Expr) -> Expr:
            if name not in INTRINSICS:
                return cast(a[i], name)
            return call(name, *(a[i], b[i], a[i])[: INTRINSICS[name].arity])

        made = te.compute(shape, value, name=f"S{at}")
        assert isinstance(made, te.Tensor)
        return made

    outputs = [applied(name, at) for at, name in enumerate(names)]
    func = te.create_prim_func([a, b, *outputs])
    inputs = draw_arguments(func, picks, "special")
    if not {*names}.isdisjoint(_NARROW):
        for at in range(0, shape[0], 2):
            inputs.args[0][at] = picks.pick(_ROUNDED_TWICE)
    expected = te.evaluate(outputs, {a: inputs.args[0], b: inputs.args[1]})
    kind = as_dtype(dtype)
    pairs = zip(expected, names, strict=True)
    allowed = tuple(tolerance_of_function(array, name, kind) for array, name in pairs)
    return Sample(
        "programs",
        func,
        DEFAULT,
        inputs=(inputs,),
        expected=(tuple(expected),),
        allowed=(allowed,),
        features=(*features_of(func), "rung:special functions"),
    )


def tolerance_of_function(array: Array, name: str, dtype: DType) -> Array | None:
    """Return a tolerance in units of the value; infinities, NaN, zeros, and all results that have a
    single right value must be exact."""
    if name not in INTRINSICS or not dtype.is_float or INTRINSICS[name].ulps <= 0.5:
        return None
    value = array.astype(np.float64)
    units = ulps_of(name, dtype) + 0.5  # The expected value is rounded too.
    return np.where(np.isfinite(value) & (value != 0), units * ulp_of(value, dtype), 0.0)
