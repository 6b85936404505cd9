"""Check steps on graphs: the same results before and after, and a memory plan in which every value
is still there when it is used."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from irkit.core import Function, IRKitError, IRModule
from irkit.graph import (
    GraphFunc,
    MemoryPlan,
    TensorType,
    Tuple,
    TupleGet,
    Value,
    arrays_of,
    intermediates,
    interpret,
    recorded_plan,
    used_inside,
)
from irkit.ir import as_int, numpy_dtype
from irkit.transform import IR, Step

TOLERANCE = 1e-4
Array = NDArray[Any]
_Parts: TypeAlias = "Value | tuple[_Parts, ...]"
"""What a value stands for: itself, or what it was put together from."""


def check_graph_steps(steps: Iterable[Step], seed: int = 0) -> tuple[str, str]:
    """Find the first step on a module that changes results or plans memory wrongly: its name, and
    what is wrong; both are empty if there is none."""
    whole: IR | None = None
    expected: list[Array] = []
    for step in steps:
        if whole is None:
            whole = step.before
            whole = IRModule({"main": whole}) if isinstance(whole, Function) else whole
            expected = _results(whole, seed)
        whole = step.applied_to(whole)
        why = _wrong(whole, expected, seed) if step.changed else ""
        if why:
            return step.name, why
    return "", ""


def _wrong(whole: IR, expected: list[Array], seed: int) -> str:
    try:
        found = _results(whole, seed)
    except IRKitError as error:
        return str(error)
    if len(expected) != len(found) or not all(map(_close, expected, found)):
        return "the results differ"
    lost = overwritten(whole, values_of(whole, _inputs(_main(whole)[1], seed)))
    return f"{lost!r} is not in its place when it is needed" if lost else ""


def _close(a: Array, b: Array) -> bool:
    return a.shape == b.shape and np.allclose(a, b, TOLERANCE, TOLERANCE, equal_nan=True)


def _inputs(func: GraphFunc, seed: int) -> list[Array]:
    """Draw whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(seed)
    made: list[Array] = []
    for param in func.params:
        assert isinstance(param.type, TensorType)
        shape = [as_int(extent) or 0 for extent in param.type.shape]
        made.append(rng.integers(-2, 3, size=shape).astype(numpy_dtype(param.type.dtype)))
    return made


def _main(whole: IR) -> tuple[IRModule, GraphFunc]:
    assert isinstance(whole, IRModule)
    func = whole["main"]
    assert isinstance(func, GraphFunc)
    return whole, func


def _results(whole: IR, seed: int) -> list[Array]:
    module, func = _main(whole)
    with np.errstate(all="ignore"):
        return list(arrays_of(interpret(module, _inputs(func, seed))))


def values_of(whole: IR, inputs: list[Any]) -> dict[str, Any]:
    """Interpret a module, and give back all values of its graph by name, those of tuples as
    tuples."""
    module, func = _main(whole)
    names = [value.name for value in (*func.params, *(b.var for b in func.body.bindings))]
    with np.errstate(all="ignore"):
        return dict(intermediates(module, inputs, names))


def overwritten(whole: IR, known: Mapping[str, Any]) -> str:
    """Fill an arena as the plan says, binding by binding, with values that are known; name one that
    is not in its place when it is used."""
    func = _main(whole)[1]
    plan = recorded_plan(func)
    if plan is None:
        return ""
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
    """List what tuples, also inside of each other, are made of."""
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
