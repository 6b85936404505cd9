"""Kinds of published miscompiles of graphs: rules and passes that are wrong, and right ones.

They were written before the programs that `check_pass` draws for them, and know nothing of these.
"""

from typing import Any

import numpy as np

from irkit.core import rewrite
from irkit.graph import (
    Bind,
    GraphFunc,
    Match,
    Op,
    Replacement,
    TensorType,
    Value,
    apply_rules,
    attributes,
    bindings_of,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
from irkit.transform import AnyPass, define_pass

x, y, k = hole("x"), hole("y"), known("k")


def of_rules(name: str, *rules: Any, rounds: bool = False) -> AnyPass:
    def run(func: GraphFunc) -> GraphFunc:
        return apply_rules(func, name, rules)

    run.__name__ = run.__qualname__ = name.replace("-", "_")
    return define_pass(changes_rounding=rounds)(run)


def _axes(m: Match, name: str) -> tuple[int, ...]:
    return attributes(m.op(name)).ints("axes")


def joined(legal: bool) -> Any:
    def build(b: Replacement, m: Match) -> Value | None:
        inner, outer = _axes(m, "inner"), _axes(m, "outer")
        axes = [inner[at] for at in outer] if legal else [outer[at] for at in inner]
        made = b.op("transpose", m["x"], axes=tuple(axes))
        return made if made.type == m.root.var.type or legal else None

    pattern = op("transpose", op("transpose", x, name="inner"), name="outer")
    return graph_rule("join", pattern, build, shared=True)


def relu_of_add(b: Replacement, m: Match) -> Value:
    return b.op("add", b.op("relu", m["x"]), b.op("relu", m["y"]))


def relu_of_maximum(b: Replacement, m: Match) -> Value:
    return b.op("maximum", b.op("relu", m["x"]), b.op("relu", m["y"]))


def reciprocal(legal: bool) -> Any:
    def build(b: Replacement, m: Match) -> Value | None:
        array = m.array("k")
        kind = m["x"].type
        if array.dtype.kind != "f" or not array.size or not isinstance(kind, TensorType):
            return None
        with np.errstate(all="ignore"):
            parts, _ = np.frexp(array)
            by = (np.asarray(1) / array).astype(array.dtype)
        if legal and not (np.all(np.abs(parts) == 0.5) and np.all(np.abs(array) < 1e4)):
            return None
        return b.op("multiply", m["x"], b.constant(by))

    return graph_rule("reciprocal", op("divide", x, k), build)


def sums(legal: bool) -> Any:
    """Join two sums; axes of the second count without those of the first."""

    def build(b: Replacement, m: Match) -> Value | None:
        inner, outer = m.op("inner"), m.op("outer")
        rank = len(extents_of(m["x"]))
        first, second = attributes(inner).ints("axes"), attributes(outer).ints("axes")
        if attributes(inner).flag("keepdims") or attributes(outer).flag("keepdims"):
            return None
        first = first or tuple(range(rank))
        left = [axis for axis in range(rank) if axis not in first]
        second = second or tuple(range(len(left)))
        other = tuple(left[axis] for axis in second) if legal else second
        axes = tuple(sorted({*first, *other}))
        if len(axes) != len(first) + len(second):
            return None
        made = b.op("max", m["x"], axes=axes, keepdims=False)
        return made if made.type == m.root.var.type else None

    return graph_rule("sums", op("max", op("max", x, name="inner"), name="outer"), build)


def slices(legal: bool) -> Any:
    """Take the first operand of a concatenation for a slice as long as it."""

    def build(b: Replacement, m: Match) -> Value | None:
        options = attributes(m.op("cut"))
        if legal and (any(options.ints("begins")) or any(n != 1 for n in options.ints("strides"))):
            return None
        if m["x"].type != m.root.var.type:
            return None
        axis = attributes(m.op("whole")).int("axis")
        if options.ints("axes") != (axis,):
            return None
        return b.op("identity", m["x"])

    return graph_rule("cut", op("slice", op("concat", x, y, name="whole"), name="cut"), build)


@define_pass(idempotent=True)
def flatten_negations(func: GraphFunc, *, most: int = 2) -> GraphFunc:
    """Drop pairs of negations, the first few: not idempotent where there are more."""
    bound, left = bindings_of(func), most

    def negated(value: Value) -> Value | None:
        bind = bound.get(value)
        step = None if bind is None else bind.step
        return step.args[0] if isinstance(step, Op) and step.name == "negative" else None

    def drop(bind: Bind) -> Bind | None:
        nonlocal left
        inside = negated(bind.var)
        source = None if inside is None else negated(inside)
        if source is None or not left:
            return None
        left -= 1
        return bind.replace(step=Op("identity", (source,)))

    return rewrite(func, drop, on=Bind)
