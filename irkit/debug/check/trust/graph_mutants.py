"""Small changes to a graph at the nodes that a step changed, for a check to notice."""

from collections.abc import Iterator
from itertools import chain, zip_longest

import msgspec
import numpy as np

from irkit.core import AttrValue, rewrite, substitute, walk
from irkit.graph import ArrayData, Bind, Constant, GraphFunc, GraphStep, Op, Value

_OTHERS = {
    **{"add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply"},
    **{"maximum": "minimum", "minimum": "maximum", "less": "less_equal", "less_equal": "less"},
    **{"greater": "greater_equal", "greater_equal": "greater", "relu": "abs", "abs": "relu"},
    **{"logical_and": "logical_or", "logical_or": "logical_and", "sigmoid": "tanh"},
}
"""The operator in place of each."""


_COMMUTATIVE = ("add", "multiply", "equal", "not_equal", "logical_and", "logical_or")


class GraphMutant(msgspec.Struct, frozen=True, eq=False):
    """A graph with one small change: at a node, and what it says there."""

    func: GraphFunc
    node: str
    change: str

    def __str__(self) -> str:
        return f"node {self.node}: {self.change}"


_Change = tuple[Bind, GraphStep | Value, str]
"""A binding, what it has in place of its step, and the change in words."""


def graph_mutants(before: GraphFunc, after: GraphFunc) -> Iterator[GraphMutant]:
    """Yield changes to the result of a step at the nodes that it made; kinds take turns."""
    known = {id(step) for step in walk(before, GraphStep)}
    changed = [bind for bind in walk(after, Bind) if id(bind.step) not in known]
    kinds = [
        chain.from_iterable(map(kind, changed))
        for kind in (_swapped, _other_operator, _bypassed, _other_attribute, _moved_constant)
    ]
    for turn in zip_longest(*kinds):
        for change in turn:
            if change is not None:
                bind, new, said = change
                yield GraphMutant(_put(after, bind, new), bind.var.name, said)


def _put(func: GraphFunc, old: Bind, new: GraphStep | Value) -> GraphFunc:
    if isinstance(new, Value):
        return func.replace(body=substitute(func.body, {old.var: new}))

    def rule(bind: Bind) -> Bind | None:
        return bind.replace(step=new) if bind is old else None

    return rewrite(func, rule, on=Bind)


def _swapped(bind: Bind) -> Iterator[_Change]:
    match bind.step:
        case Op(name, (a, b, *rest)) as op if a is not b and a.type == b.type:
            if name in _COMMUTATIVE:
                return
            yield bind, op.replace(args=(b, a, *rest)), "its operands swapped"
        case _:
            pass


def _other_operator(bind: Bind) -> Iterator[_Change]:
    match bind.step:
        case Op(name) as op if name in _OTHERS:
            yield bind, op.replace(name=_OTHERS[name]), f"`{name}` to `{_OTHERS[name]}`"
        case _:
            pass


def _bypassed(bind: Bind) -> Iterator[_Change]:
    if isinstance(bind.step, Op):
        for arg in bind.step.args:
            if arg.type == bind.var.type:
                yield bind, arg, f"bypassed by {arg.name}"


def _other_attribute(bind: Bind) -> Iterator[_Change]:
    """Change a number, or a flag, of an operator; what does not fit its type is no graph."""
    if not isinstance(bind.step, Op):
        return
    for at, (name, value) in enumerate(bind.step.attrs):
        for other in _other_values(value):
            attrs = (*bind.step.attrs[:at], (name, other), *bind.step.attrs[at + 1 :])
            yield bind, bind.step.replace(attrs=attrs), f"{name} is {other}"


def _other_values(value: AttrValue) -> Iterator[AttrValue]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
            yield value - 1
        case tuple() if len(set(value)) > 1:
            yield value[::-1]
        case _:
            pass


def _moved_constant(bind: Bind) -> Iterator[_Change]:
    if not isinstance(bind.step, Constant):
        return
    array = bind.step.data.array
    if not array.size:
        return
    moved = np.array(array)
    last = (-1,) * moved.ndim
    moved[last] = ~moved[last] if moved.dtype == bool else moved[last] + 1
    if not np.array_equal(moved, array):
        yield bind, Constant(ArrayData(moved)), "its last element moved by 1"
