"""State in place: results of a function that are written over its parameters.

The attribute ``state`` of a graph function lists pairs of a parameter and a result by number, such
as ``((0, 1),)``: at a call, result 1 lies exactly where parameter 0 lies. No others may overlap.
With an axis and a capacity, as in ``((0, 1, 2, 4096),)``, the two are a cache that grows.
"""

from collections.abc import Iterator

import msgspec

from irkit.core import Attrs, IRKitError, IRModule, Node, equal, walk
from irkit.graph.flow import operands, used_inside
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import (
    Bind,
    Body,
    GraphLoop,
    GraphStep,
    Invoke,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import attributes
from irkit.graph.types import TensorType

STATE = "state"

_Found = Iterator[tuple[str, Node | None]]


class StatePair(msgspec.Struct, frozen=True, array_like=True):
    """A result that is written over a parameter; both are numbers.

    With a ``capacity``, the two are a cache: memory with room for so many rows along ``axis``, of
    which the result has more than the parameter.
    """

    param: int
    result: int
    axis: int = 0
    capacity: int = 0


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
    listed = tuple(
        (pair.param, pair.result, *((pair.axis, pair.capacity) if pair.capacity else ()))
        for pair in pairs
    )
    return func.replace(attrs=(*others, (STATE, listed)) if pairs else others)


def results_of(func: GraphFunc) -> tuple[Value, ...]:
    """Return the results of a function one by one, or its result if no step makes a tuple of it."""
    for bind in reversed(func.body.bindings):
        if bind.var is func.body.result:
            return bind.step.items if isinstance(bind.step, Tuple) else (bind.var,)
    return (func.body.result,)


def overwritten(func: GraphFunc) -> frozenset[Value]:
    """Return the parameters that results are written over, without caches, whose rows stay."""
    return frozenset(func.params[pair.param] for pair in state_pairs(func) if not pair.capacity)


def caches_of(func: GraphFunc) -> dict[Value, StatePair]:
    """Return the parameters and results of a function that lie in a cache."""
    results = results_of(func)
    found: dict[Value, StatePair] = {}
    for pair in state_pairs(func):
        if pair.capacity:
            found[func.params[pair.param]] = found[results[pair.result]] = pair
    return found


def caches_in(module: IRModule, main: GraphFunc) -> dict[Value, StatePair]:
    """Return the values of all functions of a module that lie in a cache: those of ``main``, and
    the parameters of functions that are called with them."""
    found = caches_of(main)
    waiting = [main] if found else []
    while waiting:
        for bind in walk(waiting.pop().body, Bind):
            for param, given, target in passed_on(bind.step, module):
                if given in found and param not in found:
                    found[param] = found[given]
                    waiting.append(target)
    return found


def passed_on(step: GraphStep, module: IRModule) -> Iterator[tuple[Value, Value, GraphFunc]]:
    """Yield the parameters that a call of a graph function, or a loop over one, passes values on to
    as they are, with these values; and the function."""
    if isinstance(step, (Invoke, GraphLoop)) and step.function in module:
        target = module[step.function]
        if isinstance(target, GraphFunc):
            given = step.args if isinstance(step, Invoke) else step.others
            params = target.params[len(target.params) - len(given) :]
            yield from ((param, value, target) for param, value in zip(params, given, strict=True))


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


class StateResults:
    """Which of the values of a function may be used in place of a result that is state.

    A pass that uses one value for another asks: the function could be refused afterwards.
    """

    def __init__(self, func: GraphFunc) -> None:
        self.func = func
        self.over: dict[Value, StatePair] = {}
        pairs = state_pairs(func)
        results = results_of(func) if pairs else ()
        bound = {bind.var: bind.step for bind in walk(func.body, Bind)} if pairs else {}
        for pair in pairs:
            value = results[pair.result]
            self.over[value] = pair
            while isinstance(step := bound.get(value), Body):  # A let is flattened later.
                value = step.result
                self.over[value] = pair

    def may_be(self, result: Value, value: Value) -> bool:
        """Return True if a value of the function may stand in place of another: that is no state
        result, or the value is computed, after all reads of the parameter, and no other result."""
        pair = self.over.get(result)
        if pair is None:
            return True
        at, param = computed_at(self.func, value), self.func.params[pair.param]
        if at is None or pair.capacity or value in results_of(self.func):
            return False
        later = self.func.body.bindings[at + 1 :]
        return not any(param in used_inside(bind.step) for bind in later)


def state_problems(func: GraphFunc) -> Iterator[tuple[str, Node]]:
    """Yield what is wrong with the pairs of a function, and where."""
    try:
        pairs = state_pairs(func)
    except IRKitError as error:
        yield error.message, func
        return
    results = results_of(func)
    nested = [result.name for result in results if not isinstance(result.type, TensorType)]
    if pairs and nested:
        yield f"state numbers results that are tensors, and {nested[0]!r} holds several", func
        return
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
        check = _cache_problems if pair.capacity else _pair_problems
        for message, node in check(func, pair, func.params[pair.param], results[pair.result]):
            yield message, node or func


def _cache_problems(func: GraphFunc, pair: StatePair, param: Value, result: Value) -> _Found:
    """Yield what is wrong with a cache: its rows are those of the parameter, and others behind."""
    axis, before, after = pair.axis, param.type, result.type
    what = f"result {result.name!r} cannot grow in the memory of parameter {param.name!r}"
    if not isinstance(before, TensorType) or not isinstance(after, TensorType):
        yield f"{what}: they are not tensors", None
        return
    if not 0 <= axis < len(before.shape) or pair.capacity < 1:
        yield f"{what}, of rank {len(before.shape)}, along axis {axis} to {pair.capacity}", None
        return
    at = computed_at(func, result)
    step = None if at is None else func.body.bindings[at].step
    appends = isinstance(step, Invoke) or (
        isinstance(step, Op) and step.name == "concat" and attributes(step).int("axis") == axis
    )
    given = () if step is None else operands(step)
    if not appends or given[:1] != (param,) or given.count(param) != 1:
        yield f"{what}: no step concatenates rows to it along axis {axis}", None
    if sum(each is result for each in results_of(func)) != 1:
        yield f"{what}: it is a result twice", None
    for bind in func.body.bindings:
        kept = isinstance(bind.step, Tuple) and bind.var is not func.body.result
        if _gives_on(bind, param) or (kept and result in operands(bind.step)):
            yield f"{what}: {bind.var.name!r} stands for one of them, or holds it", bind


def _pair_problems(func: GraphFunc, pair: StatePair, param: Value, result: Value) -> _Found:
    over = f"result {result.name!r} cannot be written over parameter {param.name!r}"
    if not isinstance(param.type, TensorType) or not equal(param.type, result.type):
        yield f"{over}, whose type differs", None
    at = computed_at(func, result)
    if at is None:
        yield f"{over}: no step computes it", None
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
    if isinstance(step, Prefix):
        return step.value is param
    return any(body.result is param for body in walk(step, Body))
