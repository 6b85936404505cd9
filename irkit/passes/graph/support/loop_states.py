"""States of loops that an iteration changes in place: it stores rows over what is there."""

from collections.abc import Mapping

from irkit.core import IRModule, walk
from irkit.graph import (
    Bind,
    GraphFunc,
    GraphLoop,
    Invoke,
    Op,
    StatePair,
    Value,
    results_of,
    state_problems,
    with_state,
)


def stored_states(mod: IRModule) -> Mapping[str, tuple[StatePair, ...]]:
    """Return, for each function that only loops call, the pairs of a state before an iteration and
    after it of which ``scatter`` makes the one from the other, so that both can be one memory."""
    loops: dict[str, int] = {}
    called = {"main"}
    for func in mod.functions.values():
        for bind in walk(func.body, Bind) if isinstance(func, GraphFunc) else ():
            if isinstance(bind.step, GraphLoop):
                loops[bind.step.function] = len(bind.step.state)
            elif isinstance(bind.step, Invoke):
                called.add(bind.step.function)
    found: dict[str, tuple[StatePair, ...]] = {}
    for name, count in loops.items():
        func = mod.functions.get(name)
        if isinstance(func, GraphFunc) and name not in called:
            found[name] = _pairs(func, count)
    return found


def _pairs(func: GraphFunc, count: int) -> tuple[StatePair, ...]:
    """Return those of the first ``count`` states, behind the number of the iteration."""
    steps = {bind.var: bind.step for bind in func.body.bindings}
    results = results_of(func)
    pairs = [StatePair(at, at) for at in range(1, 1 + count)]
    return tuple(
        pair
        for pair in pairs
        if _is_stored(steps.get(results[pair.result]), func.params[pair.param])
        and results.count(results[pair.result]) == 1
        and not any(state_problems(with_state(func, (pair,))))
    )


def _is_stored(step: object, param: Value) -> bool:
    return (
        isinstance(step, Op)
        and step.name == "scatter"
        and step.args[0] is param
        and param not in step.args[1:]
    )
