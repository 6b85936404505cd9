"""Loops, prefixes and rows that are appended, in random graphs."""

from collections.abc import Callable

import msgspec
import numpy as np

from irkit.core import equal
from irkit.fuzz.generators.graphs.values import GraphTensor, GraphValues
from irkit.graph import Body, TensorType, Value, outlined
from irkit.ir import Const

_MOST = 4
"""Iterations of a loop that has rows."""


class BodySteps(msgspec.Struct, frozen=True):
    """What a body is made of: a step that keeps a type, some steps of any kind, and a condition."""

    alike: Callable[[GraphValues, GraphTensor], GraphTensor]
    some: Callable[[GraphValues, int], None]
    condition: Callable[[GraphValues], Value]


def loop(g: GraphValues, steps: BodySteps) -> object:
    """Repeat a function of the module on a state, perhaps with a row for each iteration."""
    if g.depth:
        return None
    x = g.any(lambda each: not each.dtype.is_bool)
    before = max(1, x.bound)
    count = _count(g)
    cond = g.builder.constant(np.array(True)) if g.picks.below(4) else steps.condition(g)
    with g.inside() as inner:
        number = inner.param("number", (), "i64")
        state = GraphTensor(inner.param("state", x.type), before, x.sure)
        outside = len(g.held)
        g.held += [GraphTensor(number, _MOST), state]
        steps.alike(g, state)
        steps.some(g, g.picks.below(4))
        # What an iteration makes of the state may be no larger, nor less sure, than the state.
        fitting = [
            each
            for each in g.held[outside + 1 :]
            if equal(each.type, x.type) and each.bound <= before and each.sure >= x.sure
        ]
        after = g.picks.pick(fitting[1:] or fitting)
        rows = [each for each in g.held[outside + 1 :] if None not in each.known_sizes]
        rows = [g.picks.pick(rows)] if rows and g.picks.below(2) else []
        again = steps.condition(g) if g.picks.one_in(3) else inner.constant(np.array(True))
        result = inner.tuple(again, after.value, *(row.value for row in rows))
        body = Body(tuple(inner.bindings), result)
    func, others = outlined("step", (number, state.value), body)
    kinds = [TensorType((Const(_MOST, count.dtype), *row.shape), row.dtype) for row in rows]
    made = g.builder.loop(g.builder.define(func), count.value, cond, (x.value,), others, rows=kinds)
    g.held.append(GraphTensor(g.builder.item(made, 0), _MOST))
    g.held.append(GraphTensor(g.builder.item(made, 1), before, x.sure))
    for at, row in enumerate(rows):
        g.held.append(GraphTensor(g.builder.item(made, 2 + at), row.bound, row.sure))
    return made


def prefix(g: GraphValues, name: str) -> object:
    """Take some of the rows of a value: how many is only known when the graph runs."""
    x = g.any(lambda each: each.rank > 0 and each.known_sizes[0] is not None)
    most = x.known_sizes[0] if x.rank else None
    if g.depth or most is None:  # In a body inside, nothing may be left that has the dimension.
        return None
    count = g.op("maximum", _count(g), g.scalar_of(0), bound=8)
    count = g.op("minimum", count, g.scalar_of(most), bound=8)
    made = GraphTensor(g.builder.prefix(x.value, count.value), x.bound, x.sure)
    g.held.append(made)
    return made


def append(g: GraphValues, name: str) -> object:
    """Append rows to a parameter, which can then be a cache that grows."""
    params = [each for each in g.params if each.rank and None not in each.known_sizes]
    if g.depth or not params:
        return None
    x = g.picks.pick(params)
    axis = g.picks.below(x.rank)
    shape = [size or 0 for size in x.known_sizes]
    shape[axis] = 1 + g.picks.below(2)
    rows = g.constant(g.numbers(shape, str(x.dtype)), x.bound)
    return g.op("concat", x, rows, bound=x.bound, axis=axis)


def _count(g: GraphValues) -> GraphTensor:
    """Make a number of iterations or rows: an input, or a constant."""
    if g.picks.below(3):
        return GraphTensor(g.builder.param("count", (), "i64"), 4)
    return g.scalar_of(g.picks.below(_MOST + 1))
