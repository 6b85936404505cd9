"""Which states of a loop its iteration changes in place, so that nothing is carried over."""

from irkit.core import IRModule
from irkit.graph import (
    UPDATES,
    Bind,
    GraphFunc,
    Invoke,
    Value,
    computed_at,
    results_of,
    state_pairs,
    used_inside,
)
from irkit.ir import PrimFunc


def kept_states(module: IRModule, body: GraphFunc) -> frozenset[int]:
    """Return the results of an iteration that are written over the state before it."""
    results = results_of(body)
    found: list[int] = []
    for pair in state_pairs(body):
        at, param = computed_at(body, results[pair.result]), body.params[pair.param]
        if not any(reads(module, bind, param) for bind in body.body.bindings[at:]):
            found.append(pair.result)
    return frozenset(found)


def reads(module: IRModule, bind: Bind, param: Value) -> bool:
    """Return True if a step reads a parameter, unless its kernel updates it in place."""
    step = bind.step
    if isinstance(step, Invoke) and step.args.count(param) == 1:
        target = module[step.function]
        own = dict(target.attrs).get(UPDATES) if isinstance(target, PrimFunc) else None
        return own != step.args.index(param)
    return param in used_inside(step)
