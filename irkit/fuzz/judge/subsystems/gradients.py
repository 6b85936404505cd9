"""Gradients of drawn graphs against finite differences of NumPy, and against each other.

A graph is drawn together with what NumPy computes for it. The slope along random directions must be
that of central differences, wherever two steps of them agree: elsewhere there is a kink. The
gradient of a sum is the sum of the gradients, and that by one parameter is the one among several.
"""

from collections.abc import Sequence

import numpy as np

from irkit.core import IRModule
from irkit.fuzz.generators.sample import Array, Unusable
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.subsystems.smooth_graphs import SMOOTH_DRAWS, SmoothGraph
from irkit.fuzz.picks import Picks
from irkit.graph import (
    GraphFunc,
    arrays_of,
    gradient,
    interpret,
)
from irkit.phases import compile

_STEP = 1e-4
_AGREEMENT = 1e-3
_MOST = 6


def gradients_agree(picks: Picks) -> None:
    """The gradient of a drawn graph has the slopes of finite differences.

    Raises: WrongSample; Unusable.
    """
    graph = SmoothGraph(picks)
    for _ in range(1 + picks.below(_MOST)):
        name = picks.pick(tuple(SMOOTH_DRAWS))
        SMOOTH_DRAWS[name](graph)
    if not graph.operations:
        raise Unusable("no operator fitted")
    ends = sorted(graph.operations)[-2:]
    weights = {at: graph.rng.uniform(-1, 1, graph.values[at].shape) for at in ends}
    func = graph.function(weights)
    shown = func.script()
    value, found = _run(gradient(func, with_value=True), graph.points, native=picks.one_in(4))
    expected = _loss(graph, weights, graph.points)
    if not np.allclose(value, expected, rtol=1e-9, atol=1e-9):
        raise WrongSample("mismatch", f"the value is {value}, expected {expected}\n{shown}")
    _compare_slopes(graph, weights, found, shown)
    _compare_parts(graph, weights, found, shown)
    one = picks.below(len(found))
    (alone,) = _run_all(gradient(func, [f"x{one}"]), graph.points)
    if not np.array_equal(alone, found[one]):
        message = f"by x{one} alone it is\n{alone}\namong others\n{found[one]}"
        raise WrongSample("mismatch", f"{message}\n{shown}")


def _loss(graph: SmoothGraph, weights: dict[int, Array], points: Sequence[Array]) -> float:
    return float(sum((graph.result(points, at) * by).sum() for at, by in weights.items()))


def _run(func: GraphFunc, points: Sequence[Array], *, native: bool) -> tuple[float, list[Array]]:
    value, *found = _run_all(func, points)
    if native:
        model = compile(IRModule({"main": func}), target=target_of(0))
        names = [spec.name for spec in model.plan.inputs]
        ran = list(model.run(dict(zip(names, points, strict=True))).values())
        for own, other in zip([value, *found], ran, strict=True):
            if not np.allclose(own, other, rtol=1e-9, atol=1e-9):
                message = f"native code: {other}, the interpreter: {own}"
                raise WrongSample("mismatch", f"{message}\n{func.script()}")
    return float(value), found


def _run_all(func: GraphFunc, points: Sequence[Array]) -> list[Array]:
    found = interpret(func, [each.copy() for each in points])
    return [np.asarray(each) for each in arrays_of(found)]


def _compare_slopes(
    graph: SmoothGraph, weights: dict[int, Array], found: Sequence[Array], shown: str
) -> None:
    for number, (point, slope) in enumerate(zip(graph.points, found, strict=True)):
        if slope.shape != point.shape:
            message = f"the gradient by x{number} has the shape {slope.shape}"
            raise WrongSample("mismatch", f"{message}\n{shown}")
        for direction in _directions(graph, point):
            near, far = (
                _difference(graph, weights, number, direction, step) for step in (_STEP / 4, _STEP)
            )
            if not np.isfinite(near) or abs(near - far) > _AGREEMENT / 4 * (1 + abs(near)):
                continue  # There is a kink nearby, or a step.
            have = float((slope * direction).sum())
            if not abs(have - near) <= _AGREEMENT * (1 + abs(near)):
                inputs = "\n".join(map(str, graph.points))
                message = f"the slope by x{number} is {have}, by finite differences {near}"
                raise WrongSample("mismatch", f"{message}\n{shown}\n{inputs}")


def _directions(graph: SmoothGraph, point: Array) -> list[Array]:
    """Return one direction of all elements, and some along a single one."""
    made = [graph.rng.standard_normal(point.shape)] if point.size else []
    for at in graph.rng.permutation(point.size)[:3]:
        alone = np.zeros(point.size)
        alone[at] = 1.0
        made.append(alone.reshape(point.shape))
    return made


def _difference(
    graph: SmoothGraph, weights: dict[int, Array], number: int, direction: Array, step: float
) -> float:
    def moved(by: float) -> float:
        points = list(graph.points)
        points[number] = points[number] + by * direction
        return _loss(graph, weights, points)

    with np.errstate(all="ignore"):
        return (moved(step) - moved(-step)) / (2 * step)


def _compare_parts(
    graph: SmoothGraph, weights: dict[int, Array], found: Sequence[Array], shown: str
) -> None:
    """Compare with the sum of the gradients of each part."""
    if len(weights) < 2:
        return
    parts = [
        _run_all(gradient(graph.function({at: by})), graph.points) for at, by in weights.items()
    ]
    for number, (whole, *each) in enumerate(zip(found, *parts, strict=True)):
        total = np.sum(each, axis=0)
        if not np.allclose(whole, total, rtol=1e-7, atol=1e-7):
            message = f"the gradient by x{number} is\n{whole}\nthat of its parts\n{total}"
            raise WrongSample("mismatch", f"{message}\n{shown}")
