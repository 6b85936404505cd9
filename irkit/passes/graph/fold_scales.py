"""Fold scales and shifts by constants, before or after a product, into its weights and bias.

Before::

    def main(x: f32[1, 1, 2, 2]):
        w: f32[1, 1, 1, 1] = constant([3.0])
        k: f32[1] = constant([2.0])
        a: f32[1, 1, 2, 2] = multiply(x, k)
        c: f32[1, 1, 2, 2] = conv(a, w)
        y: f32[1, 1, 2, 2] = add(c, k)
        return y

After::

    def main(x: f32[1, 1, 2, 2]):
        w: f32[1, 1, 1, 1] = constant([3.0])
        k: f32[1] = constant([2.0])
        a: f32[1, 1, 2, 2] = multiply(x, k)
        c_weight: f32[1, 1, 1, 1] = constant([6.0])
        c: f32[1, 1, 2, 2] = conv(x, c_weight)
        y_weight: f32[1, 1, 1, 1] = constant([6.0])
        y_bias: f32[1] = constant([2.0])
        y: f32[1, 1, 2, 2] = conv(x, y_weight, y_bias)
        return y

A scale is a multiplication, division or batch normalisation; a shift before a convolution with pads
stays, because the pads are not shifted.
"""

import numpy as np

from irkit.core import remark
from irkit.graph import (
    Array,
    GraphFunc,
    Match,
    Op,
    Replacement,
    Value,
    apply_rules,
    attributes,
    dtype_of_value,
    either,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
from irkit.passes.graph.support.affine_maps import affine, along_axis, is_finite, read_affine
from irkit.transform import define_pass


@define_pass(idempotent=True, changes_rounding=True)
def fold_scales(func: GraphFunc) -> GraphFunc:
    """Fold what scales or shifts whole channels or columns into constant weights of a product.

    The product, or what scales its operand, must have no other use; what is no longer used stays,
    for ``eliminate_dead_nodes``.
    """
    return apply_rules(func, "fold-scales", _RULES)


def _is_float(m: Match) -> bool:
    dtype = dtype_of_value(m["w"])
    return dtype is not None and dtype.is_float


def _rounded(b: Replacement, m: Match, array: Array, name: str) -> Value | None:
    """Return a constant in the type of the weights, or None if one of its numbers is too large."""
    with np.errstate(all="ignore"):
        made = array.astype(m.array("w").dtype)
    return b.constant(made, name=name) if is_finite(made) else None


def _conv(b: Replacement, m: Match, weight: Array, bias: Array) -> Value | None:
    """Return the matched convolution of ``x`` with other weights and another bias."""
    args = [m["x"], _rounded(b, m, weight, "weight")]
    if "bias" in m or np.any(bias):
        args.append(_rounded(b, m, bias, "bias"))
    given = tuple(arg for arg in args if arg is not None)
    if len(given) < len(args):
        return None
    return b.emit(Op("conv", given, m.op("product").attrs), "conv")


def _parts(m: Match) -> tuple[Array, Array]:
    w: Array = m.array("w").astype(np.float64)
    if "bias" not in m:
        none: Array = np.zeros(len(w))
        return w, none
    return w, m.array("bias").astype(np.float64)


def _after_conv(b: Replacement, m: Match) -> Value | None:
    found = read_affine(m, m.root.var, 1) if _is_float(m) else None
    if found is None:
        return None
    w, bias = _parts(m)
    scaled = w * found.scale.reshape(-1, *(1,) * (w.ndim - 1))
    return _conv(b, m, scaled, bias * found.scale + found.shift)


def _before_conv(b: Replacement, m: Match) -> Value | None:
    found = read_affine(m, m["x"], 1) if _is_float(m) else None
    if found is None:
        return None
    options = attributes(m.op("product"))
    if np.any(found.shift) and any(options.ints("pads")):
        source = m.bindings["affine"].var.name
        remark(m.root, f"{source} shifts what is padded with 0: it stays; pad before the shift")
        return None
    w, bias = _parts(m)
    groups = options.int("groups")
    # Filter f reads the channels of its group.
    own = np.repeat(np.arange(groups), w.shape[0] // groups)
    rest = (1,) * (w.ndim - 2)
    scale, shift = (each.reshape(groups, -1)[own].reshape(*w.shape[:2], *rest) for each in found)
    added = (w * shift).sum(axis=tuple(range(1, w.ndim)))
    return _conv(b, m, w * scale, bias + added)


def _after_matmul(b: Replacement, m: Match) -> Value | None:
    found = read_affine(m, m.root.var, -1) if _is_float(m) else None
    if found is None or ("bias" not in m and bool(np.all(found.scale == 1))):
        return None
    w, columns = m.array("w").astype(np.float64), extents_of(m["w"])[-1]
    shift = found.shift
    if "bias" in m:
        own = along_axis(m.array("bias"), len(extents_of(m.root.var)) - 1, _rank(m), columns or 0)
        if own is None:
            return None
        shift = own * found.scale + shift
    return _matmul(b, m, w * found.scale, shift)


def _before_matmul(b: Replacement, m: Match) -> Value | None:
    found = read_affine(m, m["x"], -1) if _is_float(m) else None
    if found is None:
        return None
    w = m.array("w").astype(np.float64)
    return _matmul(b, m, w * found.scale[:, None], found.shift @ w)


def _rank(m: Match) -> int:
    return len(extents_of(m.root.var))


def _matmul(b: Replacement, m: Match, weight: Array, shift: Array) -> Value | None:
    w = _rounded(b, m, weight, "weight")
    bias = _rounded(b, m, shift, "bias")
    if w is None or bias is None:
        return None
    product = b.op("matmul", m["x"], w)
    return b.op("add", product, bias) if np.any(shift) else product


_X, _W, _BIAS = hole("x"), known("w"), known("bias")
_MATRIX = known("w", lambda array: array.ndim == 2)
_CONV = either(op("conv", _X, _W, name="product"), op("conv", _X, _W, _BIAS, name="product"))
_MATMUL = op("matmul", _X, _MATRIX, name="product")
_SCALED = affine(_X)
_RULES = (
    graph_rule("after-a-convolution", affine(_CONV), _after_conv),
    graph_rule(
        "before-a-convolution",
        either(
            op("conv", _SCALED, _W, name="product"), op("conv", _SCALED, _W, _BIAS, name="product")
        ),
        _before_conv,
    ),
    graph_rule("after-a-product", affine(_MATMUL), _after_matmul),
    graph_rule(
        "after-a-product-and-a-shift",
        affine(op("add", _MATMUL, _BIAS, commutative=True)),
        _after_matmul,
    ),
    graph_rule("before-a-product", op("matmul", _SCALED, _MATRIX, name="product"), _before_matmul),
)
