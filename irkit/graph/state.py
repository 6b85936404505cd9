"""State in place: results of a function that are written over its parameters.

The attribute ``state`` of a graph function lists pairs of a parameter and a result by number, such
as ``((0, 1),)``: at a call, result 1 lies exactly where parameter 0 lies. No others may overlap.
"""

from collections.abc import Iterator

import msgspec

from irkit.core import Attrs, IRKitError, Node, equal, walk
from irkit.graph.flow import used_inside
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import Bind, Body, Tuple, TupleGet, Value
from irkit.graph.types import TensorType

STATE = "state"


class StatePair(msgspec.Struct, frozen=True, array_like=True):
    """A result that is written over a parameter; both are numbers."""

    param: int
    result: int


def state_pairs(func: GraphFunc) -> tuple[StatePair, ...]:
    """Return the pairs of a function.

    Raises: IRKitError if the attribute does not hold pairs.
    """
    try:
        return msgspec.convert(dict(func.attrs).get(STATE, ()), tuple[StatePair, ...], strict=True)
    except msgspec.ValidationError as error:
        raise IRKitError(
            f"attribute {STATE!r} of {func.name!r} must list pairs of a parameter and a result: "
            f"{error}"
        ) from None


def with_state(func: GraphFunc, pairs: tuple[StatePair, ...]) -> GraphFunc:
    """Return a function with these pairs."""
    others: Attrs = tuple((key, value) for key, value in func.attrs if key != STATE)
    listed = tuple((pair.param, pair.result) for pair in pairs)
    return func.replace(attrs=(*others, (STATE, listed)) if pairs else others)


def results_of(func: GraphFunc) -> tuple[Value, ...]:
    """Return the results of a function one by one, or its result if no step makes a tuple of it."""
    for bind in reversed(func.body.bindings):
        if bind.var is func.body.result:
            return bind.step.items if isinstance(bind.step, Tuple) else (bind.var,)
    return (func.body.result,)


def overwritten(func: GraphFunc) -> frozenset[Value]:
    """Return the parameters that results are written over."""
    return frozenset(func.params[pair.param] for pair in state_pairs(func))


def computed_at(func: GraphFunc, value: Value) -> int | None:
    """Return the number of the binding of the outermost body that computes a value, perhaps as an
    item of a tuple; None if it is a parameter."""
    places = {bind.var: at for at, bind in enumerate(func.body.bindings)}
    while value in places:
        step = func.body.bindings[places[value]].step
        if not isinstance(step, TupleGet):
            return places[value]
        value = step.value
    return None


def state_problems(func: GraphFunc) -> Iterator[tuple[str, Node]]:
    """Yield what is wrong with the pairs of a function, and where."""
    try:
        pairs = state_pairs(func)
    except IRKitError as error:
        yield error.message, func
        return
    results = results_of(func)
    for pair in pairs:
        if not (0 <= pair.param < len(func.params) and 0 <= pair.result < len(results)):
            message = (
                f"state pairs parameter {pair.param} with result {pair.result}, but there are "
                f"{len(func.params)} parameters and {len(results)} results"
            )
            yield message, func
            return
    for what, numbers in (
        ("parameter", [pair.param for pair in pairs]),
        ("result", [pair.result for pair in pairs]),
    ):
        if len(set(numbers)) != len(numbers):
            yield f"state names a {what} in two pairs", func
            return
    for pair in pairs:
        yield from _pair_problems(func, func.params[pair.param], results[pair.result])


def _pair_problems(func: GraphFunc, param: Value, result: Value) -> Iterator[tuple[str, Node]]:
    over = f"result {result.name!r} cannot be written over parameter {param.name!r}"
    if not isinstance(param.type, TensorType) or not equal(param.type, result.type):
        yield f"{over}, whose type differs", func
    at = computed_at(func, result)
    if at is None:
        yield f"{over}: no step computes it", func
        return
    writer = func.body.bindings[at].var.name
    for number, bind in enumerate(func.body.bindings):
        name = bind.var.name
        if _gives_on(bind, param):
            message = f"{name!r} stands for parameter {param.name!r}, or holds it, which is written"
            yield f"{message} over", bind
        elif number > at and param in used_inside(bind.step):
            message = f"{name!r} reads parameter {param.name!r}, which {writer!r} has overwritten"
            yield message, bind


def _gives_on(bind: Bind, param: Value) -> bool:
    """Return True if a binding names a parameter once more, or puts it into a tuple."""
    step = bind.step
    if isinstance(step, Tuple):
        return param in step.items
    return any(body.result is param for body in walk(step, Body))
