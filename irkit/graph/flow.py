"""Data flow of a graph function: operands, uses, definitions, constants; and flattening of lets."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

from irkit.core import Node, children, postorder, substitute, walk, with_fields
from irkit.graph.arrays import ArrayData
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import (
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphStep,
    Lambda,
    TupleGet,
    Value,
)
from irkit.graph.types import TupleType, tensors_in

_T = TypeVar("_T")


def operands(step: GraphStep) -> tuple[Value, ...]:
    """Return the values that a step itself uses, without those used in its bodies."""
    if isinstance(step, (Body, Lambda)):
        return ()
    return tuple(child for child in children(step) if isinstance(child, Value))


def bodies(step: GraphStep) -> tuple[Body, ...]:
    """Return the bodies of a step."""
    match step:
        case Body():
            return (step,)
        case GraphIf(_, then, otherwise):
            return (then, otherwise)
        case Lambda(_, body):
            return (body,)
        case _:
            return ()


def used_inside(step: GraphStep) -> Iterator[Value]:
    """Yield the values that a step uses, also deep in its bodies, once per use."""
    for node in walk(step):
        if isinstance(node, GraphStep):
            yield from operands(node)
            if isinstance(node, Body):
                yield node.result


def item_of(step: TupleGet, tensors: Sequence[_T]) -> tuple[_T, ...]:
    """Return the tensors of one item of a tuple that consists of these ones, nested tuples too."""
    whole = step.value.type
    assert isinstance(whole, TupleType)
    counts = [len(tensors_in(item)) for item in whole.items]
    assert sum(counts) == len(tensors), step
    begin = sum(counts[: step.index])
    return tuple(tensors[begin : begin + counts[step.index]])


def use_counts(func: GraphFunc) -> Counter[Value]:
    """Count the uses of each value; being a result is one."""
    return Counter(used_inside(func.body))


def bindings_of(func: GraphFunc) -> dict[Value, Bind]:
    """Map each value computed by a step to its binding."""
    return {bind.var: bind for bind in walk(func.body, Bind)}


def constants_of(func: GraphFunc) -> dict[Value, ArrayData]:
    """Map each value known at compile time to its array."""
    return {
        bind.var: bind.step.data
        for bind in walk(func.body, Bind)
        if isinstance(bind.step, Constant)
    }


def live_values(func: GraphFunc) -> set[Value]:
    """Return the values that the result depends on; steps have no effects, so no others matter."""
    bound = bindings_of(func)
    found: set[Value] = set()
    waiting = [func.body.result]
    while waiting:
        value = waiting.pop()
        if value in found:
            continue
        found.add(value)
        if value in bound:
            step = bound[value].step
            waiting += operands(step)
            waiting += [body.result for body in bodies(step)]
    return found


def flatten_lets(func: GraphFunc, kept: Collection[Value] = ()) -> GraphFunc:
    """Move the bindings of nested bodies (not of lambdas and branches) into the body around them.

    Bodies bound to a value in ``kept`` stay. A body without bindings just renames its result, and
    is removed. Without nested bodies the same function is returned.
    """

    def goes(bind: Bind) -> bool:
        return isinstance(bind.step, Body) and bind.var not in kept

    renamed: dict[Value, Value] = {}
    new: dict[int, Node] = {}
    for old in postorder(func.body):
        node = with_fields(old, new)
        if isinstance(node, Body) and any(map(goes, node.bindings)):
            node = _flattened(node, renamed, goes)
        if node is not old:
            new[id(old)] = node
    if not new:
        return func
    found = func.replace(body=new.get(id(func.body), func.body))
    return substitute(found, {value: _last(value, renamed) for value in renamed})


def _flattened(body: Body, renamed: dict[Value, Value], goes: Callable[[Bind], bool]) -> Body:
    lifted: list[Bind] = []
    for bind in body.bindings:
        inner = bind.step
        if not isinstance(inner, Body) or not goes(bind):
            lifted.append(bind)
            continue
        lifted += inner.bindings
        # Keep the outer name, which people know, unless the result comes from further out.
        if any(_last(inside.var, renamed) is inner.result for inside in inner.bindings):
            renamed[inner.result] = bind.var
        else:
            renamed[bind.var] = inner.result
    return body.replace(bindings=tuple(lifted))


def _last(value: Value, renamed: dict[Value, Value]) -> Value:
    passed: list[Value] = []
    while value in renamed:
        passed.append(value)
        value = renamed[value]
    for one in passed:
        renamed[one] = value
    return value
