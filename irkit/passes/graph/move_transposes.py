"""Join transposes and reshapes, and move transposes past elementwise operators until they meet.

Before::

    def main(x: f32[1, 2, 3, 4]):
        a: f32[1, 3, 4, 2] = transpose(x, axes=(0, 2, 3, 1))
        b: f32[1, 3, 4, 2] = relu(a)
        c: f32[1, 2, 3, 4] = transpose(b, axes=(0, 3, 1, 2))
        d: f32[2, 12] = reshape(c, shape=(2, 12))
        e: f32[24] = reshape(d, shape=(24,))
        return e

After::

    def main(x: f32[1, 2, 3, 4]):
        a: f32[1, 3, 4, 2] = transpose(x, axes=(0, 2, 3, 1))
        b_relu: f32[1, 2, 3, 4] = relu(x)
        b: f32[1, 3, 4, 2] = transpose(b_relu, axes=(0, 2, 3, 1))
        d: f32[2, 12] = reshape(b_relu, shape=(2, 12))
        e: f32[24] = reshape(b_relu, shape=(24,))
        return e
"""

import numpy as np

from irkit.core import equal
from irkit.graph import (
    OPS,
    GraphFunc,
    Match,
    Pattern,
    Replacement,
    Value,
    apply_rules,
    attributes,
    either,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
from irkit.transform import define_pass


@define_pass(idempotent=True)
def move_transposes(func: GraphFunc) -> GraphFunc:
    """Move transposes towards the results, past operators that treat all elements alike.

    They move past an operator on one tensor, on two tensors transposed in the same way, and on a
    tensor and a constant; past extrema too, whose axes change. Two that meet are
    joined to one, and so are two reshapes. Elements are the same, in other places.
    """
    return apply_rules(func, "move-transposes", _RULES)


def _axes(m: Match, name: str = "moved") -> tuple[int, ...]:
    return attributes(m.op(name)).ints("axes")


def _joined(b: Replacement, m: Match) -> Value:
    outer, inner = _axes(m, "outer"), _axes(m)
    axes = tuple(inner[axis] for axis in outer)
    return m["x"] if axes == tuple(range(len(axes))) else b.op("transpose", m["x"], axes=axes)


def _reshaped(b: Replacement, m: Match) -> Value | None:
    shape = extents_of(m.root.var)
    known_extents = tuple(extent for extent in shape if extent is not None)
    if len(known_extents) < len(shape):
        return None
    if equal(m["x"].type, m.root.var.type):
        return m["x"]
    return b.op("reshape", m["x"], shape=known_extents)


def _past_unary(b: Replacement, m: Match) -> Value:
    made = b.emit(m.root_op.replace(args=(m["x"],)), m.root_op.name)
    return b.op("transpose", made, axes=_axes(m))


def _past_pair(b: Replacement, m: Match) -> Value | None:
    """Move two transposes past an operator on both; they must be alike."""
    if _axes(m) != _axes(m, "other"):
        return None
    made = b.emit(m.root_op.replace(args=(m["x"], m["y"])), m.root_op.name)
    return b.op("transpose", made, axes=_axes(m))


def _past_constant(b: Replacement, m: Match) -> Value | None:
    """Move a transpose past an operator with a constant, which is transposed the other way."""
    axes, k = _axes(m), m.array("k")
    if k.ndim > len(axes):
        return None
    whole = k.reshape((1,) * (len(axes) - k.ndim) + k.shape)
    if any(
        n not in (1, extent) for n, extent in zip(whole.shape, extents_of(m.root.var), strict=True)
    ):
        return None
    if k.size != 1:
        constant = b.constant(np.ascontiguousarray(whole.transpose(np.argsort(axes))), name="const")
    else:
        constant = m["k"]
    turned = m.bindings["moved"].var
    args = tuple(m["x"] if arg is turned else constant for arg in m.root_op.args)
    made = b.emit(m.root_op.replace(args=args), m.root_op.name)
    return b.op("transpose", made, axes=axes)


def _past_reduction(b: Replacement, m: Match) -> Value | None:
    axes, options = _axes(m), attributes(m.root_op)
    reduced = options.ints("axes") or tuple(range(len(axes)))
    inner = tuple(sorted(axes[axis] for axis in reduced))
    made = b.op(m.root_op.name, m["x"], axes=inner, keepdims=options.flag("keepdims"))
    if options.flag("keepdims"):
        return b.op("transpose", made, axes=axes)
    left = [axis for axis in axes if axis not in inner]
    return b.op("transpose", made, axes=tuple(sorted(left).index(axis) for axis in left))


def _names(*kinds: str, args: int) -> str:
    """Return the operators of some kinds that take a number of tensors and keep their shape."""
    fixed = {"reshape", "batch_norm", "broadcast_to", "where"}
    found = (
        spec.name
        for spec in OPS.values()
        if spec.kind in kinds and len(spec.args) == args and not spec.variadic
    )
    return " ".join(name for name in found if name not in fixed)


def _transposed(name: str, operand: str) -> Pattern:
    return op("transpose", hole(operand), name=name)


_X = _transposed("moved", "x")
_BINARY = _names("broadcast", args=2)
_RULES = (
    graph_rule("join-transposes", op("transpose", _X, name="outer"), _joined, shared=True),
    graph_rule("join-reshapes", op("reshape", op("reshape", hole("x"))), _reshaped, shared=True),
    graph_rule("past-one", op(_names("elementwise", args=1), _X), _past_unary),
    graph_rule("past-two", op(_BINARY, _X, _transposed("other", "y")), _past_pair),
    graph_rule(
        "past-a-constant",
        either(op(_BINARY, _X, known("k")), op(_BINARY, known("k"), _X)),
        _past_constant,
    ),
    graph_rule("past-extrema", op("max min", _X), _past_reduction),
)
