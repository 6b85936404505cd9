"""Make a graph smaller: end it sooner, or begin it later, with intermediate values as inputs, or
replace a branch by one side, or a call by the body of its function."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import msgspec
import numpy as np

from irkit.core import IRKitError, IRModule, fresh, substitute, walk
from irkit.debug import Family, InputSet, all_moves
from irkit.fuzz.generators.graphs.graph_samples import graph_results
from irkit.fuzz.generators.sample import Array, Sample, Tolerance, Unusable
from irkit.graph import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphFunc,
    GraphLoop,
    GraphStep,
    Lambda,
    TensorType,
    TupleType,
    Value,
    bodies,
    flatten_lets,
    intermediates,
    used_inside,
    verify,
)

Move: TypeAlias = Callable[[Sample], Sample | None]
_GENEROUS = 1000.0
# Nobody chose the numbers that a graph begins with: other rounding must not pass for the fault.
_MORE = 16.0


def _parts(sample: Sample) -> list[Move]:
    """List samples with less of a graph, the smallest first."""
    func = _graph_of(sample)
    if func is None:
        return []
    bindings, result = func.body.bindings, func.body.result
    tensors = [bind for bind in bindings if isinstance(bind.var.type, TensorType)]
    ends = [bind.var for bind in tensors if not isinstance(bind.step, Constant)]
    begins = [bind for bind in reversed(tensors) if bind.var is not result]
    return [
        *(
            partial(_cut, func=opened, given=(), result=opened.body.result, any_size=True)
            for opened in _opened(func)
        ),
        *(partial(_cut, func=func, given=(), result=var) for var in ends),
        *(partial(_cut, func=func, given=(bind,), result=result) for bind in begins),
    ]


GRAPH_FAMILIES: tuple[Family[Sample], ...] = (Family("graph", _parts, all_moves, together=False),)


def _graph_of(sample: Sample) -> GraphFunc | None:
    if isinstance(sample.ir, GraphFunc):
        return sample.ir
    if isinstance(sample.ir, IRModule):
        functions = sample.ir.functions
        graphs = [each for each in functions.values() if isinstance(each, GraphFunc)]
        found = functions.get("main")
        return found if isinstance(found, GraphFunc) and len(graphs) == len(functions) else None
    return None


def _with_functions(sample: Sample, func: GraphFunc) -> GraphFunc | IRModule:
    """Return a graph with the functions of a sample that its loops call."""
    if not isinstance(sample.ir, IRModule):
        return func
    called = {step.function for step in walk(func.body, GraphLoop)}
    kept = {name: each for name, each in sample.ir.functions.items() if name in called}
    return IRModule({"main": func, **kept}) if kept else func


def _opened(func: GraphFunc) -> Iterator[GraphFunc]:
    """List graphs with one nested body less."""
    codes = {bind.var: bind.step for bind in func.body.bindings if isinstance(bind.step, Lambda)}
    for at, bind in enumerate(func.body.bindings):
        for body in _bodies(bind.step, codes):
            binds = list(func.body.bindings)
            binds[at] = bind.replace(step=body)
            yield flatten_lets(func.replace(body=func.body.replace(bindings=tuple(binds))))


def _bodies(step: GraphStep, codes: Mapping[Value, Lambda]) -> tuple[Body, ...]:
    """List the bodies that can replace a step."""
    if isinstance(step, Apply) and step.callee in codes:
        code = codes[step.callee]
        made = fresh(substitute(code.body, dict(zip(code.params, step.args, strict=True))))
        return (made,)
    return () if isinstance(step, Lambda) else bodies(step)


def _cut(
    sample: Sample,
    func: GraphFunc,
    given: tuple[Bind, ...],
    result: Value,
    *,
    any_size: bool = False,
) -> Sample | None:
    """Return the graph up to a result, with some values taken as inputs; None if it is not legal,
    or not smaller."""
    known = {bind.var for bind in given}
    needed, kept = {result}, list[Bind]()
    for bind in reversed(func.body.bindings):
        if bind.var in needed and bind.var not in known:
            kept.append(bind)
            needed.update(used_inside(bind.step))
    if len(kept) >= len(func.body.bindings) and not given and not any_size:
        return None
    new = tuple(bind.var for bind in given if bind.var in needed)
    params = tuple(param for param in func.params if param in needed)
    made = func.replace(params=(*params, *new), body=Body(tuple(reversed(kept)), result))
    try:
        program = _with_functions(sample, func)
        inputs = [_inputs(func, program, each, params, new) for each in sample.inputs]
    except IRKitError:
        return None
    whole = _with_functions(sample, made)
    if verify(whole):
        return None
    before = zip(inputs, sample.expected, sample.allowed, strict=True)
    expected = [_expected(whole, result, *each) for each in before]
    return msgspec.structs.replace(
        sample,
        kind="graphs",
        ir=whole,
        inputs=tuple(inputs),
        expected=tuple(expected for expected, _ in expected),
        allowed=tuple(allowed for _, allowed in expected),
    )


def _expected(
    program: GraphFunc | IRModule,
    result: Value,
    inputs: InputSet,
    expected: tuple[Array, ...] | None,
    allowed: tuple[Tolerance, ...],
) -> tuple[tuple[Array, ...] | None, tuple[Tolerance, ...]]:
    """Return the expected results: those that NumPy computes, if it did so for the whole, or else
    those of the graph itself."""
    if expected is not None and inputs.kind in ("whole numbers", "fractions"):
        with suppress(Unusable):
            found, limits = graph_results(program, inputs, whole=inputs.kind == "whole numbers")
            return found, tuple(None if each is None else each * _MORE for each in limits)
    return None, _limits(expected, allowed) * _count(result)


def _count(result: Value) -> int:
    """Return the number of tensors in a result."""
    found, waiting = 0, [result.type]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, TupleType):
            waiting += kind.items
        else:
            found += 1
    return found


def _limits(expected: object, allowed: tuple[Tolerance, ...]) -> tuple[Tolerance]:
    """Return tolerances: for any element of another result what the worst had before; much more if
    that was for NumPy's results: nobody knows how far rounding takes this one, and it must not pass
    for the fault."""
    limits = [float(np.max(each, initial=0.0)) for each in allowed if each is not None]
    return (np.array(max(limits) * (1.0 if expected is None else _GENEROUS)) if limits else None,)


def _inputs(
    func: GraphFunc,
    program: GraphFunc | IRModule,
    given: InputSet,
    params: tuple[Value, ...],
    new: tuple[Value, ...],
) -> InputSet:
    values = dict(zip(func.params, given.args, strict=True))
    if new:
        with np.errstate(all="ignore"):
            found = intermediates(program, given.copied(), [var.name for var in new])
        values.update({var: np.array(found[var.name], order="C") for var in new})
    return InputSet(given.name, given.kind, tuple(values[var] for var in (*params, *new)))
