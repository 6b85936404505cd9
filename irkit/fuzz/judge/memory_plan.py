"""Check the memory plan of a model: no value may be overwritten before its last use."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from irkit.core import IRModule
from irkit.graph import (
    GraphFunc,
    MemoryPlan,
    Prefix,
    Tuple,
    TupleGet,
    Value,
    arrays_of,
    intermediates,
    recorded_plan,
    shared_memory,
    used_inside,
)
from irkit.transform import IR

_Parts: TypeAlias = "Value | tuple[_Parts, ...]"
"""A value, or the parts of a tuple."""


def main_graph(whole: IR) -> tuple[IRModule, GraphFunc]:
    assert isinstance(whole, IRModule)
    func = whole["main"]
    assert isinstance(func, GraphFunc)
    return whole, func


def values_of(whole: IR, inputs: list[Any]) -> dict[str, Any]:
    """Interpret a module, and return all values of its graph by name, those of tuples as tuples."""
    module, func = main_graph(whole)
    names = [value.name for value in (*func.params, *(b.var for b in func.body.bindings))]
    with np.errstate(all="ignore"):
        return dict(intermediates(module, inputs, names))


def overwritten(whole: IR, known: Mapping[str, Any]) -> str:
    """Fill an arena as the plan says, binding by binding, with known values; name one that was
    overwritten before it is used."""
    func = main_graph(whole)[1]
    plan = recorded_plan(func)
    if plan is None:
        return ""
    shared = shared_memory(func)
    arena = np.zeros(plan.size, np.uint8)
    parts: dict[Value, _Parts] = {}
    for bind in func.body.bindings:
        needed = [
            (part, *place)
            for value in used_inside(bind.step)
            for part in _leaves(parts.get(value, value))
            for place in _places(part, known, plan)
        ]
        if isinstance(bind.step, Tuple):
            parts[bind.var] = tuple(parts.get(item, item) for item in bind.step.items)
        elif isinstance(bind.step, Prefix):
            parts[bind.var] = parts.get(bind.step.value, bind.step.value)
        elif bind.var in shared.views:
            base = shared.views[bind.var].whole
            parts[bind.var] = parts.get(base, base)
        elif bind.var in shared.joined:  # Nothing is copied: its operands are there.
            needed += [(bind.var, *place) for place in _places(bind.var, known, plan)]
        elif isinstance(bind.step, TupleGet) and isinstance(
            kept := parts.get(bind.step.value), tuple
        ):
            parts[bind.var] = kept[bind.step.index]
        else:
            for begin, data in _places(bind.var, known, plan):
                if begin < 0 or begin + len(data) > len(arena):
                    return bind.var.name
                arena[begin : begin + len(data)] = data
        # A kernel reads while it writes, so operands must outlive the result's first byte.
        for part, begin, data in needed:
            if not np.array_equal(arena[begin : begin + len(data)], data):
                return part.name
    for part in _leaves(parts.get(func.body.result, ())):
        for begin, data in _places(part, known, plan):
            if not np.array_equal(arena[begin : begin + len(data)], data):
                return part.name
    return ""


def _leaves(parts: _Parts) -> Iterator[Value]:
    """Return the arrays in tuples, nested ones too."""
    waiting = [parts]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += part[::-1]
        else:
            yield part


def _places(
    value: Value, known: Mapping[str, Any], plan: MemoryPlan
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    if value.name not in known:
        return
    for item, array in enumerate(arrays_of(known[value.name])):
        slot = plan.slot(value.name, item)
        if slot is not None:
            yield slot.offset, np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
