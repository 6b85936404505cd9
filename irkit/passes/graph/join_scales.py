"""Join scales and shifts by constants that follow each other to one scale and one shift.

Before::

    def main(x: f32[1, 2, 2, 2]):
        k: f32[2] = constant([1.0, 2.0])
        one: f32[2] = constant([1.0, 1.0])
        n: f32[1, 2, 2, 2] = batch_norm(x, k, one, one, one, epsilon=0.0)
        two: f32[1] = constant([2.0])
        y: f32[1, 2, 2, 2] = multiply(n, two)
        return y

After::

    def main(x: f32[1, 2, 2, 2]):
        k: f32[2] = constant([1.0, 2.0])
        one: f32[2] = constant([1.0, 1.0])
        n_scale: f32[2, 1, 1] = constant([1.0, 2.0])
        n_multiply: f32[1, 2, 2, 2] = multiply(x, n_scale)
        n_shift: f32[2, 1, 1] = constant([0.0, -1.0])
        n: f32[1, 2, 2, 2] = add(n_multiply, n_shift)
        two: f32[1] = constant([2.0])
        y_scale: f32[2, 1, 1] = constant([2.0, 4.0])
        y_multiply: f32[1, 2, 2, 2] = multiply(x, y_scale)
        y_shift: f32[2, 1, 1] = constant([0.0, -2.0])
        y: f32[1, 2, 2, 2] = add(y_multiply, y_shift)
        return y
Those that a convolution or a product can take are folded into its weights before.
"""

import numpy as np

from irkit.core import equal
from irkit.graph import (
    Array,
    GraphFunc,
    Match,
    Pattern,
    Replacement,
    Value,
    apply_rules,
    dtype_of_value,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
from irkit.ir import numpy_dtype
from irkit.passes.graph.support.affine_maps import AffineMap, affine, is_finite, read_affine
from irkit.transform import define_pass


@define_pass(idempotent=True, changes_rounding=True)
def join_scales(func: GraphFunc) -> GraphFunc:
    """Compute batch normalisations by constants, and scales and shifts that follow each other, as
    one multiplication and one addition.

    The constants are computed in f64. A value between two of them must have no other use.
    """
    return apply_rules(func, "join-scales", _RULES)


def _joined(b: Replacement, m: Match) -> Value | None:
    """Return x times the scales, plus the shifts, of the steps ``inner``, ``middle`` and ``outer``
    as far as they are there."""
    value, dtype = m.root.var, dtype_of_value(m.root.var)
    if dtype is None or not dtype.is_float or not equal(m["x"].type, value.type):
        return None
    rank = len(extents_of(value))
    steps = [name for name in ("inner", "middle", "outer") if name in m.bindings]
    for axis in range(rank):
        maps = [read_affine(m, value, axis, name) for name in steps]
        found = [each for each in maps if each is not None]
        if found and len(found) == len(steps) and found[0].scale.size:
            return _scaled(b, m["x"], _composed(found), rank - 1 - axis)
    return None


def _composed(maps: list[AffineMap]) -> AffineMap:
    scale, shift = maps[0]
    with np.errstate(all="ignore"):
        for each in maps[1:]:
            scale, shift = scale * each.scale, shift * each.scale + each.shift
    return AffineMap(scale, shift)


def _scaled(b: Replacement, x: Value, found: AffineMap, behind: int) -> Value | None:
    """Return x times a scale plus a shift, which have so many axes behind theirs."""
    dtype = dtype_of_value(x)
    assert dtype is not None
    with np.errstate(all="ignore"):
        scale, shift = (_shaped(each.astype(numpy_dtype(dtype)), behind) for each in found)
    if not is_finite(scale, shift):
        return None
    if np.any(scale != 1):
        x = b.op("multiply", x, b.constant(scale, name="scale"))
    return b.op("add", x, b.constant(shift, name="shift")) if np.any(shift) else x


def _shaped(numbers: Array, behind: int) -> Array:
    """Return one number for each index of an axis, or a single one if they are alike."""
    if np.all(numbers == numbers[:1]):
        return numbers[:1]
    return numbers.reshape(-1, *(1,) * behind)


def _two_of(operators: str) -> Pattern:
    inner = op(operators, hole("x"), known("inner_k"), name="inner", commutative=True)
    return op(operators, inner, known("outer_k"), name="outer", commutative=True)


_STATISTICS = [known(f"outer_{each}") for each in ("scale", "shift", "mean", "var")]
_RULES = (
    graph_rule("one-norm", op("batch_norm", hole("x"), *_STATISTICS, name="outer"), _joined),
    graph_rule("two-scales", _two_of("multiply"), _joined),
    graph_rule("two-shifts", _two_of("add"), _joined),
    graph_rule(
        "three-in-a-row", affine(affine(affine(hole("x"), "inner"), "middle"), "outer"), _joined
    ),
)
