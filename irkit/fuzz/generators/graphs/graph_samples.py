"""Samples that are graphs: random operators of the whole table, and what NumPy computes.

The reference is each operator's own rule over NumPy arrays (`meaning`). It shares the rules for
types and attributes with the compiler, but not passes, tensor expressions, loops or code. Error
bounds of floats come from ``irkit.graph.interpret`` in f64.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from irkit.core import IRKitError, IRModule, walk
from irkit.debug import InputSet, dim_size, draw_values
from irkit.fuzz.generators.graphs.forms import FORMS, apply_form
from irkit.fuzz.generators.graphs.meaning import meaning
from irkit.fuzz.generators.graphs.operators import DRAWS, ROUNDING
from irkit.fuzz.generators.graphs.values import SYMBOLIC_SIZES, GraphValues
from irkit.fuzz.generators.sample import Array, Sample, Tolerance, Unusable
from irkit.fuzz.picks import Picks
from irkit.graph import (
    Bind,
    Body,
    GraphFunc,
    GraphLoop,
    Op,
    StatePair,
    TensorType,
    Value,
    arrays_of,
    attributes,
    bindings_of,
    interpret,
    results_of,
    state_pairs,
    used_inside,
    verify,
    with_state,
)
from irkit.ir import Const, Var, as_int
from irkit.passes.graph import fuse_ops, lower_to_loops
from irkit.phases import GRAPH
from irkit.transform import Pipeline

_MOST_OPS = 6
_UNITS = 64
_OWN_ERRORS = 16
_UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
_EXACT = tuple(name for name in DRAWS if name not in ROUNDING)


def draw_graph(picks: Picks) -> Sample:
    """Draw a graph of up to 6 operators, its arguments, and passes over it."""
    whole = bool(picks.below(2))
    func, ops, called = graph_function(picks, whole=whole)
    inputs = graph_arguments(func, picks, whole=whole)
    expected, allowed = graph_results(with_called(func, called), inputs, whole=whole)
    dtypes = {str(param.type.dtype) for param in func.params if isinstance(param.type, TensorType)}
    features = (
        *(f"op:{name}" for name in ops),
        *(f"dtype:{name}" for name in sorted(dtypes)),
        *sorted(
            {
                f"step:{type(bind.step).__name__}"
                for each in (func, *called.values())
                for bind in walk(each.body, Bind)
            }
        ),
        *(("extent:symbolic",) if "=" in inputs.name else ()),
        f"rung:{'whole' if whole else 'fractions'} graph",
    )
    pipeline = graph_pipeline(picks, func, *called.values())
    paired = with_state_drawn(picks, func) if picks.one_in(3) else func
    pairs = state_pairs(paired)
    features = (*features, *["state"] * bool(pairs), *["cache"] * any(p.capacity for p in pairs))
    return Sample(
        "graphs",
        with_called(paired, called),
        pipeline,
        inputs=(inputs,),
        expected=(expected,),
        allowed=(allowed,),
        features=(*features, *(f"pass:{name}" for name in dict.fromkeys(pipeline.names))),
    )


def with_called(func: GraphFunc, called: Mapping[str, GraphFunc]) -> GraphFunc | IRModule:
    """Return a function, as a module if it needs others."""
    return IRModule({"main": func, **called}) if called else func


def graph_function(
    picks: Picks, *, whole: bool
) -> tuple[GraphFunc, tuple[str, ...], dict[str, GraphFunc]]:
    """Make a graph function, list its operators, and return the functions that its loops call."""
    symbols = [Var(name) for name in ("n", "m")] if picks.one_in(8) else []
    names = _EXACT if whole else (*_EXACT, *ROUNDING)
    g = GraphValues(picks, whole=whole, names=names, symbols=symbols)
    g.fresh(g.shape(1 + picks.below(4)), g.dtype())
    left, tries = 1 + picks.below(_MOST_OPS), 0
    forms = tuple(FORMS)
    while left > 0 and tries < 5 * _MOST_OPS:
        tries += 1
        name = picks.pick(forms) if picks.one_in(5) else picks.pick(g.names)
        left -= apply_form(g, name)
    made, called = finished(g)
    return made, tuple(g.ops), called


def finished(g: GraphValues) -> tuple[GraphFunc, dict[str, GraphFunc]]:
    """Return a function of the last value and of others that nothing uses, and the functions that
    its loops call. Raises: Unusable if there is nothing."""
    results = [each.value for each in g.held if each not in g.params]
    if not results:
        raise Unusable("no operator fitted")
    last = results[-1]
    read = set(used_inside(g.builder.body(last)))
    others = [
        value
        for value in (*g.tuples, *results[:-1])
        if g.picks.one_in(5) or (value not in read and g.picks.below(4))
    ]
    if g.picks.one_in(6):
        others.append(_copied(g, g.picks))
    made = g.builder.finish(*others, last)
    used = {step.function for step in walk(made.body, GraphLoop)}
    called = {
        name: func
        for name, func in g.builder.functions.items()
        if name in used and isinstance(func, GraphFunc)
    }
    return made, called


def _copied(g: GraphValues, picks: Picks) -> Value:
    """Return a copy of a tensor by operators that a pass removes: as state, it has to stay."""
    value = picks.pick(g.held).value
    kind = value.type
    assert isinstance(kind, TensorType)
    if picks.below(2) or len(kind.shape) < 2:
        return g.builder.op("identity", value)
    axes = tuple(range(len(kind.shape)))[::-1]
    return g.builder.op("transpose", g.builder.op("transpose", value, axes=axes), axes=axes)


def with_state_drawn(picks: Picks, func: GraphFunc) -> GraphFunc:
    """Write a result over a parameter, or into a cache behind it, if the verifier accepts one of
    the pairs."""
    results = range(len(results_of(func)))
    pairs = [StatePair(at, number) for at in range(len(func.params)) for number in results]
    pairs += _caches(func, picks)
    found = [made for pair in pairs if not verify(made := with_state(func, (pair,)))]
    return picks.pick(found) if found else func


def _caches(func: GraphFunc, picks: Picks) -> list[StatePair]:
    """Return the parameters to which a result appends rows, with room for some more."""
    params, results = list(func.params), results_of(func)
    found: list[StatePair] = []
    for bind in func.body.bindings:
        step = bind.step
        if not isinstance(step, Op) or step.name != "concat" or bind.var not in results:
            continue
        axis, kind = attributes(step).int("axis"), bind.var.type
        rows = as_int(kind.shape[axis]) if isinstance(kind, TensorType) else None
        if step.args[0] in params and rows is not None:
            room = max(rows + picks.below(3), 1)
            number = results.index(bind.var)
            found.append(StatePair(params.index(step.args[0]), number, axis, room))
    return found


def graph_arguments(func: GraphFunc, picks: Picks, *, whole: bool) -> InputSet:
    """Draw arrays for the parameters of a graph."""
    rng = np.random.default_rng(picks.below(1 << 16))
    sizes: dict[Var, int] = {}
    args: list[Any] = []
    for param in func.params:
        assert isinstance(param.type, TensorType)
        for dim in param.type.shape:
            if isinstance(dim, Var) and dim not in sizes:
                sizes[dim] = picks.pick(SYMBOLIC_SIZES)
        shape = tuple(dim_size(dim, sizes) for dim in param.type.shape)
        if any(size < 0 for size in shape):
            raise Unusable("an extent is below 0")
        args.append(draw_values(param.type.dtype, shape, rung_of(whole=whole), rng, (-3, 4)))
    extents = ", ".join(f"{var.name}={size}" for var, size in sizes.items())
    name = "whole" if whole else "fractions"
    return InputSet(name + (f" ({extents})" if extents else ""), rung_of(whole=whole), tuple(args))


def rung_of(*, whole: bool) -> Any:
    return "whole numbers" if whole else "fractions"


def graph_results(
    func: GraphFunc | IRModule, inputs: InputSet, *, whole: bool
) -> tuple[tuple[Array, ...], tuple[Tolerance, ...]]:
    """Compute the results in NumPy, and the tolerance of each."""
    with np.errstate(all="ignore"):
        try:
            own = [np.array(each) for each in meaning(func, list(inputs.args))]
            if whole:
                return tuple(own), (None,) * len(own)
            wide = interpret(func, list(inputs.args), precision="f64")
        except IRKitError as error:
            raise Unusable(f"NumPy cannot compute it: {error}") from error
        true = [np.asarray(each) for each in arrays_of(wide)]
        allowed = tuple(tolerance_of(a, b) for a, b in zip(own, true, strict=True))
    return tuple(own), allowed


def tolerance_of(own: Array, true: Array) -> Tolerance:
    """Allow some units of the largest number, and a multiple of the error of NumPy itself."""
    if own.dtype.kind in "iub":
        return None
    apart, sizes = np.abs(own.astype(np.float64) - true), np.abs(true)
    errors, known = apart[np.isfinite(apart)], sizes[np.isfinite(sizes)]
    most = _UNITS * _UNIT[own.dtype.name] * (1 + known.max() if known.size else 1.0)
    return np.full(own.shape, most + _OWN_ERRORS * (errors.max() if errors.size else 0.0))


def graph_pipeline(picks: Picks, *funcs: GraphFunc) -> Pipeline:
    """Pick passes over graphs: the usual ones, or some left out or with other options; of those
    that make loops, only those that a graph of this kind can go through."""
    nested = any(isinstance(bind.step, Body) for func in funcs for bind in walk(func.body, Bind))
    made = _usual(picks, nested=nested)
    extents = [
        dim
        for func in funcs
        for value in (*func.params, *bindings_of(func))
        if isinstance(value.type, TensorType)
        for dim in value.type.shape
    ]
    # No parameter of a kernel would bind the symbols that such an extent is computed from.
    if not all(isinstance(dim, (Var, Const)) for dim in extents):
        return made.without("lower-to-loops").without("plan-memory")
    return made


def _usual(picks: Picks, *, nested: bool) -> Pipeline:
    form = picks.below(6)
    if form == 1:
        return GRAPH.replace("fuse-ops", fuse_ops.using(max_ops=picks.pick((1, 2, 3))))
    if form == 2:
        vectors = lower_to_loops.using(vector_bytes=picks.pick((16, 32)))
        return GRAPH.replace("lower-to-loops", vectors)
    if form in (3, 4):
        idle = ("simplify-graph", "fold-batch-norm", "fold-constants", "eliminate-dead-nodes")
        made = GRAPH
        for name in picks.some(idle[nested:], 4):  # Only the first pass flattens nested lets.
            made = made.without(name)
        return made
    return GRAPH.without("fuse-ops") if form == 5 else GRAPH
