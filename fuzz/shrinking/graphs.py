"""Make a graph smaller: end it sooner, or begin it later, with what was computed there as input."""

from collections.abc import Iterator

import msgspec
import numpy as np

from irkit.core import IRKitError, IRModule
from irkit.debug import InputSet
from irkit.fuzz.generators import Allowed, Sample
from irkit.graph import (
    Bind,
    Body,
    Constant,
    GraphFunc,
    TensorType,
    Value,
    intermediates,
    used_inside,
    verify,
)

_GENEROUS = 1000.0


def smaller_graphs(sample: Sample) -> Iterator[Sample]:
    """List samples with less of a graph, the smallest first. NumPy says nothing of them, so their
    own interpretation is what must come out."""
    func = _graph_of(sample)
    if func is None:
        return
    bindings = func.body.bindings
    for bind in bindings:
        if isinstance(bind.var.type, TensorType) and not isinstance(bind.step, Constant):
            yield from _tried(sample, func, (), bind.var)
    for at in reversed(range(len(bindings))):
        bind = bindings[at]
        if isinstance(bind.var.type, TensorType) and bind.var is not func.body.result:
            yield from _tried(sample, func, (bind,), func.body.result)


def _graph_of(sample: Sample) -> GraphFunc | None:
    if isinstance(sample.ir, GraphFunc):
        return sample.ir
    if isinstance(sample.ir, IRModule) and list(sample.ir.functions) == ["main"]:
        (func,) = sample.ir.functions.values()
        return func if isinstance(func, GraphFunc) else None
    return None


def _tried(
    sample: Sample, func: GraphFunc, given: tuple[Bind, ...], result: Value
) -> Iterator[Sample]:
    """Give the graph up to a result, with some values taken as inputs; nothing if it cannot be."""
    known = {bind.var for bind in given}
    needed, kept = {result}, list[Bind]()
    for bind in reversed(func.body.bindings):
        if bind.var in needed and bind.var not in known:
            kept.append(bind)
            needed.update(used_inside(bind.step))
    if len(kept) + len(given) >= len(func.body.bindings) and not given:
        return
    new = tuple(bind.var for bind in given if bind.var in needed)
    params = tuple(param for param in func.params if param in needed)
    made = func.replace(params=(*params, *new), body=Body(tuple(reversed(kept)), result))
    try:
        inputs = [_inputs(func, each, params, new) for each in sample.inputs]
    except IRKitError:
        return
    if verify(made):
        return
    yield msgspec.structs.replace(
        sample,
        kind="graphs",
        ir=made,
        inputs=tuple(inputs),
        expected=(None,) * len(inputs),
        allowed=tuple(map(_limits, sample.expected, sample.allowed)),
    )


def _limits(expected: object, allowed: tuple[Allowed, ...]) -> tuple[Allowed]:
    """Allow any element of another result what the worst was allowed before; much more if that was
    for what NumPy computed: nobody knows how far rounding takes this one, and it must not pass for
    the fault."""
    limits = [float(np.max(each, initial=0.0)) for each in allowed if each is not None]
    return (np.array(max(limits) * (1.0 if expected is None else _GENEROUS)) if limits else None,)


def _inputs(
    func: GraphFunc, given: InputSet, params: tuple[Value, ...], new: tuple[Value, ...]
) -> InputSet:
    values = dict(zip(func.params, given.args, strict=True))
    if new:
        with np.errstate(all="ignore"):
            found = intermediates(func, given.copied(), [var.name for var in new])
        values.update({var: found[var.name] for var in new})
    return InputSet(given.name, given.rung, tuple(values[var] for var in (*params, *new)))
