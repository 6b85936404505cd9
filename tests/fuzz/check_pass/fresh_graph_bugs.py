"""Miscompiles of graphs, each as rules that are wrong, and right ones.

They were written before they were first run, and nothing that draws programs knows of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from irkit.graph import (
    Match,
    Replacement,
    TensorType,
    Value,
    attributes,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
from irkit.ir import as_int
from irkit.transform import AnyPass
from tests.fuzz.check_pass.published_graph_bugs import of_rules

x, y, z, k, c = hole("x"), hole("y"), hole("z"), known("k"), known("c")
Make = Callable[[bool], Any]


def _float(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.dtype.is_float


def fold_batch_norm(legal: bool) -> Any:
    """Multiply the weights of a convolution by the scale of the norm behind it, along the channels
    that come in, not out."""

    def build(b: Replacement, m: Match) -> Value | None:
        w, kind = m["w"], m["w"].type
        if not isinstance(kind, TensorType) or attributes(m.op("conv")).int("groups") != 1:
            return None
        shape = [as_int(dim) or 0 for dim in kind.shape]
        if not legal and shape[0] != shape[1]:
            return None
        epsilon = attributes(m.op("norm")).float("epsilon")
        spread = b.op("add", m["var"], b.constant(_like(m["var"], epsilon)))
        factor = b.op("multiply", m["scale"], b.op("rsqrt", spread))
        wide = [1] * len(shape)
        wide[0 if legal else 1] = shape[0]
        weights = b.op("multiply", w, b.op("reshape", factor, shape=tuple(wide)))
        made = b.op("conv", m["x"], weights, **dict(m.op("conv").attrs))
        shift = b.op("subtract", m["bias"], b.op("multiply", m["mean"], factor))
        along = (1, shape[0], *[1] * (len(shape) - 2))
        return b.op("add", made, b.op("reshape", shift, shape=along))

    pattern = op(
        "batch_norm",
        op("conv", x, hole("w"), name="conv"),
        hole("scale"),
        hole("bias"),
        hole("mean"),
        hole("var"),
        name="norm",
    )
    return graph_rule("fold", pattern, build)


def _like(value: Value, number: float) -> Any:
    assert isinstance(value.type, TensorType)
    from irkit.ir import numpy_dtype

    return np.asarray(number, numpy_dtype(value.type.dtype))


def join_clips(legal: bool) -> Any:
    """Clamp once to the narrower limits; if there are none, the last clamp counts."""

    def build(b: Replacement, m: Match) -> Value | None:
        low, high = m.array("low"), m.array("high")
        if low.size != 1 or high.size != 1 or (legal and not np.all(low <= high)):
            return None
        if np.any(low != low) or np.any(high != high):
            return None
        inside = b.op("maximum", m["x"], m["low"])
        made = b.op("minimum", inside, m["high"])
        return made if made.type == m.root.var.type else None

    pattern = op("maximum", op("minimum", x, known("high")), known("low"))
    return graph_rule("clips", pattern, build)


def reduce_transposed(legal: bool) -> Any:
    """Reduce before a transpose along the same numbers of axes, which were others."""

    def build(b: Replacement, m: Match) -> Value | None:
        outer, inner = attributes(m.op("outer")), attributes(m.op("inner"))
        if outer.flag("keepdims"):
            return None
        rank = len(extents_of(m["x"]))
        axes = outer.ints("axes") or tuple(range(rank))
        order = inner.ints("axes")
        taken = tuple(sorted(order[axis] for axis in axes)) if legal else axes
        left = [order[axis] for axis in range(rank) if axis not in {a % rank for a in axes}]
        if legal and left != sorted(left):
            return None
        made = b.op("max", m["x"], axes=taken, keepdims=False)
        return made if made.type == m.root.var.type else None

    pattern = op("max", op("transpose", x, name="inner"), name="outer")
    return graph_rule("reduce", pattern, build)


def relu_into_pad(legal: bool) -> Any:
    """Apply relu before padding, and keep the value of the padding."""

    def build(b: Replacement, m: Match) -> Value | None:
        attrs = dict(m.op("pad").attrs)
        if legal and float(attrs.get("value", 0)) < 0:
            return None
        return b.op("pad", b.op("negative", m["x"]), **attrs) if not legal else None

    return graph_rule("pad", op("negative", op("pad", x, name="pad")), build)


def drop_square_transposes(legal: bool) -> Any:
    """Drop a transpose that leaves the shape as it is."""

    def build(b: Replacement, m: Match) -> Value | None:
        order = attributes(m.root.step).ints("axes")  # pyright: ignore[reportArgumentType] -- an operator
        if m["x"].type != m.root.var.type:
            return None
        moved = [axis for at, axis in enumerate(order) if axis != at]
        sizes = [as_int(size) for size in extents_of(m["x"])]
        if legal and any(sizes[axis] != 1 for axis in moved):
            return None
        return m["x"]

    return graph_rule("square", op("transpose", x), build)


def compose_slices(legal: bool) -> Any:
    """Slice once: the second begin counts steps of the first, not elements."""

    def build(b: Replacement, m: Match) -> Value | None:
        inner, outer = attributes(m.op("inner")), attributes(m.op("outer"))
        if inner.ints("axes") != outer.ints("axes") or len(inner.ints("axes")) != 1:
            return None
        (first,), (second,) = inner.ints("begins"), outer.ints("begins")
        (step,), (further,) = inner.ints("strides"), outer.ints("strides")
        (axis,) = inner.ints("axes")
        count = as_int(extents_of(m.root.var)[axis])
        if step < 1 or further < 1 or first < 0 or second < 0 or not count:
            return None
        begin = first + (second * step if legal else second)
        stride = step * further
        end = begin + (count - 1) * stride + 1
        made = b.op("slice", m["x"], begins=(begin,), ends=(end,), strides=(stride,), axes=(axis,))
        return made if made.type == m.root.var.type else None

    pattern = op("slice", op("slice", x, name="inner"), name="outer")
    return graph_rule("slices", pattern, build)


def flatten_concat(legal: bool) -> Any:
    """Concatenate three at once, along the outer axis."""

    def build(b: Replacement, m: Match) -> Value | None:
        inner = attributes(m.op("inner")).int("axis")
        outer = attributes(m.op("outer")).int("axis")
        if legal and inner != outer:
            return None
        made = b.op("concat", m["x"], m["y"], m["z"], axis=inner)
        return made if made.type == m.root.var.type else None

    pattern = op("concat", op("concat", x, y, name="inner"), z, name="outer")
    return graph_rule("concat", pattern, build)


def drop_cast_pairs(legal: bool) -> Any:
    """Drop a cast there and back, whatever the type between holds."""

    def build(b: Replacement, m: Match) -> Value | None:
        source, middle = m["x"].type, m["middle"].type
        assert isinstance(source, TensorType)
        assert isinstance(middle, TensorType)
        if source != m.root.var.type:
            return None
        wide = str(source.dtype) == "f32" and str(middle.dtype) == "f64"
        return m["x"] if wide or not legal else None

    return graph_rule("casts", op("cast", op("cast", x, name="middle")), build)


def move_maximum_out(legal: bool) -> Any:
    """Negate after a maximum instead of before, and keep it a maximum."""

    def build(b: Replacement, m: Match) -> Value | None:
        name = "minimum" if legal else "maximum"
        made = b.op("negative", b.op(name, m["x"], m["y"]))
        kind = made.type
        if legal and not (isinstance(kind, TensorType) and kind.dtype.is_float):
            return None
        return made if made.type == m.root.var.type else None

    return graph_rule("negate", op("maximum", op("negative", x), op("negative", y)), build)


def factor_constants(legal: bool) -> Any:
    """Join two products by constants; integers wrap around alike, floats round otherwise."""

    def build(b: Replacement, m: Match) -> Value | None:
        if legal and _float(m["x"]):
            return None
        with np.errstate(all="ignore"):
            try:
                product = np.multiply(m.array("k"), m.array("c"))
            except ValueError:
                return None
        made = b.op("multiply", m["x"], b.constant(product))
        return made if made.type == m.root.var.type else None

    return graph_rule("factor", op("multiply", op("multiply", x, k), c), build)


RULES: tuple[tuple[Make, bool], ...] = (
    (fold_batch_norm, True),
    (join_clips, False),
    (reduce_transposed, False),
    (relu_into_pad, False),
    (drop_square_transposes, False),
    (compose_slices, False),
    (flatten_concat, False),
    (drop_cast_pairs, False),
    (move_maximum_out, False),
    (factor_constants, False),
)
"""How each rule is made, and whether it declares that it rounds otherwise."""


def _named(make: Make, legal: bool, rounds: bool) -> AnyPass:
    name = make.__name__.replace("_", "-")
    return of_rules(f"right-{name}" if legal else name, make(legal), rounds=rounds)


WRONG_GRAPHS = tuple(_named(make, False, rounds) for make, rounds in RULES)
RIGHT_GRAPHS = tuple(_named(make, True, rounds) for make, rounds in RULES)
