"""Gradients of drawn graphs against finite differences of NumPy, and against each other.

A graph is drawn together with what NumPy computes for it. The slope along random directions must be
that of central differences, wherever two steps of them agree: elsewhere there is a kink. The
gradient of a sum is the sum of the gradients, and that by one parameter is the one among several.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRModule
from irkit.fuzz.generators.sample import Array, Unusable
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.subsystems.numpy_windows import convolve, pool
from irkit.fuzz.picks import Picks
from irkit.graph import (
    Builder,
    GraphFunc,
    Value,
    arrays_of,
    gradient,
    interpret,
    tensor_type,
)
from irkit.ir import F64
from irkit.phases import compile

_STEP = 1e-4
_AGREEMENT = 1e-3
_SHAPES = ((3,), (2, 3), (2, 2, 3), (), (1, 3), (4, 1), (1,), (3, 3))
_MOST = 6
_LARGEST = 1e3
Attrs = dict[str, Any]
Meaning = Callable[[Sequence[Array]], Array]


class _Operation(msgspec.Struct, frozen=True):
    """An operator on values, by their positions, and on ``constants`` after them, and what NumPy
    computes."""

    name: str
    args: tuple[int, ...]
    attrs: Attrs
    meaning: Meaning
    constants: tuple[Array, ...] = ()


class _Graph:
    """Parameters, and operations on them, with their values at one point."""

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.rng = np.random.default_rng(picks.below(1 << 16))
        self.points: list[Array] = []
        self.values: dict[int, Array] = {}
        self.operations: dict[int, _Operation] = {}
        self.count = 0

    def param(self, shape: Sequence[int]) -> int:
        """Add a parameter."""
        self.points.append(self.rng.uniform(-2, 2, tuple(shape)))
        self.values[self.count] = self.points[-1]
        self.count += 1
        return self.count - 1

    def any(self) -> int:
        """Pick a value, or add a parameter."""
        if self.values and self.picks.below(4):
            return self.picks.pick(sorted(self.values, reverse=True))
        return self.param(self.picks.pick(_SHAPES))

    def like(self, at: int) -> int:
        """Pick or add a value that broadcasts with another."""
        shape = self.values[at].shape
        alike = [n for n, each in self.values.items() if each.shape == shape]
        if self.picks.below(2):
            return self.picks.pick(alike)
        part = [1 if self.picks.one_in(3) else size for size in shape]
        return self.param(part[self.picks.below(len(part) + 1) :])

    def apply(self, name: str, args: Sequence[int], attrs: Attrs, meaning: Meaning) -> int | None:
        """Add an operation, unless its numbers are too large for differences to be exact."""
        with np.errstate(all="ignore"):
            found = np.asarray(meaning([self.values[at] for at in args]), np.float64)
        if not np.isfinite(found).all() or (found.size and np.abs(found).max() > _LARGEST):
            return None
        self.values[self.count] = found
        self.operations[self.count] = _Operation(name, tuple(args), attrs, meaning)
        self.count += 1
        return self.count - 1

    @property
    def params(self) -> list[int]:
        """Return the positions of the parameters."""
        return [at for at in range(self.count) if at not in self.operations]

    def result(self, points: Sequence[Array], last: int) -> Array:
        """Compute a value in NumPy for other parameters."""
        values = dict(zip(self.params, points, strict=True))
        for at, each in self.operations.items():
            values[at] = np.asarray(each.meaning([values[arg] for arg in each.args]))
        return values[last]

    def function(self, weights: dict[int, Array]) -> GraphFunc:
        """Return the graph of the sum of some values, each multiplied by weights."""
        builder = Builder("main")
        made: dict[int, Value] = {}
        for number, at in enumerate(self.params):
            made[at] = builder.param(f"x{number}", tensor_type(self.values[at].shape, F64))
        for at, each in self.operations.items():
            operands = [made[arg] for arg in each.args]
            operands += [builder.constant(array) for array in each.constants]
            made[at] = builder.op(each.name, *operands, **each.attrs)
        total: Value | None = None
        for at, by in weights.items():
            product = builder.op("multiply", made[at], builder.constant(by))
            part = builder.op("sum", product, axes=(), keepdims=False)
            total = part if total is None else builder.op("add", total, part)
        assert total is not None
        return builder.finish(total)


def gradients_agree(picks: Picks) -> None:
    """The gradient of a drawn graph has the slopes of finite differences.

    Raises: WrongSample; Unusable.
    """
    graph = _Graph(picks)
    for _ in range(1 + picks.below(_MOST)):
        name = picks.pick(tuple(_DRAWS))
        _DRAWS[name](graph)
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


def _loss(graph: _Graph, weights: dict[int, Array], points: Sequence[Array]) -> float:
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
    graph: _Graph, weights: dict[int, Array], found: Sequence[Array], shown: str
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


def _directions(graph: _Graph, point: Array) -> list[Array]:
    """Return one direction of all elements, and some along a single one."""
    made = [graph.rng.standard_normal(point.shape)] if point.size else []
    for at in graph.rng.permutation(point.size)[:3]:
        alone = np.zeros(point.size)
        alone[at] = 1.0
        made.append(alone.reshape(point.shape))
    return made


def _difference(
    graph: _Graph, weights: dict[int, Array], number: int, direction: Array, step: float
) -> float:
    def moved(by: float) -> float:
        points = list(graph.points)
        points[number] = points[number] + by * direction
        return _loss(graph, weights, points)

    with np.errstate(all="ignore"):
        return (moved(step) - moved(-step)) / (2 * step)


def _compare_parts(
    graph: _Graph, weights: dict[int, Array], found: Sequence[Array], shown: str
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


def _unary(name: str, function: Callable[[Array], Array]) -> Callable[[_Graph], object]:
    return lambda g: g.apply(name, [g.any()], {}, lambda xs: function(xs[0]))


def _binary(name: str, function: Callable[[Array, Array], Array]) -> Callable[[_Graph], object]:
    def draw(g: _Graph) -> object:
        a = g.any()
        args = [a, g.like(a)]
        if g.picks.below(2):
            args.reverse()
        return g.apply(name, args, {}, lambda xs: function(*xs))

    return draw


def _axes_of(g: _Graph, at: int) -> tuple[int, ...]:
    rank = g.values[at].ndim
    axes = g.picks.some(list(range(rank)), 2) if rank else []
    return tuple(axis - rank if g.picks.one_in(3) else axis for axis in axes)


def _reduction(name: str, function: Callable[..., Any]) -> Callable[[_Graph], object]:
    def draw(g: _Graph) -> object:
        x = g.any()
        axes, keepdims = _axes_of(g, x), bool(g.picks.below(2))
        attrs = {"axes": axes, "keepdims": keepdims}
        return g.apply(
            name, [x], attrs, lambda xs: function(xs[0], axes or None, keepdims=keepdims)
        )

    return draw


def _along(name: str, function: Callable[[Array, int], Array]) -> Callable[[_Graph], object]:
    def draw(g: _Graph) -> object:
        x = g.any()
        rank = g.values[x].ndim
        if not rank:
            return None
        axis = g.picks.between(-rank, rank - 1)
        return g.apply(name, [x], {"axis": axis}, lambda xs: function(xs[0], axis))

    return draw


def _softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _log_softmax(x: Array, axis: int) -> Array:
    away = x - x.max(axis, keepdims=True)
    return away - np.log(np.exp(away).sum(axis, keepdims=True))


def _matmul(g: _Graph) -> object:
    m, k, n = (g.picks.pick((2, 3, 1)) for _ in range(3))
    batch = g.picks.pick(((), (2,), (1,)))
    other = g.picks.pick(((), batch, (2,) if batch != (2,) else (1,)))
    a, b = g.param((*batch, m, k)), g.param((*other, k, n))
    return g.apply("matmul", [a, b], {}, lambda xs: xs[0] @ xs[1])


def _reshape(g: _Graph) -> object:
    x = g.any()
    shape = g.picks.pick(((-1,), (1, -1), tuple(reversed(g.values[x].shape))))
    return g.apply("reshape", [x], {"shape": shape}, lambda xs: xs[0].reshape(shape))


def _transpose(g: _Graph) -> object:
    x = g.any()
    axes = list(range(g.values[x].ndim))
    order = tuple(axes.pop(g.picks.below(len(axes))) for _ in range(len(axes)))
    if not order:
        return None
    return g.apply("transpose", [x], {"axes": order}, lambda xs: xs[0].transpose(order))


def _expand(g: _Graph) -> object:
    x = g.any()
    axis = g.picks.between(-g.values[x].ndim - 1, g.values[x].ndim)
    return g.apply("expand_dims", [x], {"axes": (axis,)}, lambda xs: np.expand_dims(xs[0], axis))


def _broadcast(g: _Graph) -> object:
    x = g.any()
    shape = (2, *(2 if size == 1 else size for size in g.values[x].shape))
    return g.apply("broadcast_to", [x], {"shape": shape}, lambda xs: np.broadcast_to(xs[0], shape))


def _concat(g: _Graph) -> object:
    x = g.any()
    rank = g.values[x].ndim
    if not rank:
        return None
    axis = g.picks.between(-rank, rank - 1)
    shape = list(g.values[x].shape)
    shape[axis] = g.picks.pick((2, 1, 3))
    args = [x, g.param(shape)] if g.picks.below(2) else [x, x]
    return g.apply("concat", args, {"axis": axis}, lambda xs: np.concatenate(xs, axis))


def _slice(g: _Graph) -> object:
    x = g.any()
    if not g.values[x].ndim:
        return None
    axis = g.picks.below(g.values[x].ndim)
    begin, end = (g.picks.pick((0, 1, -1, 2, -2, 100, -100)) for _ in range(2))
    step = g.picks.pick((1, 2, -1, -2))
    cut = (slice(None),) * axis + (slice(begin, end, step),)
    attrs = {"axes": (axis,), "begins": (begin,), "ends": (end,), "strides": (step,)}
    if not g.values[x][cut].size:
        return None
    return g.apply("slice", [x], attrs, lambda xs: xs[0][cut])


def _pad(g: _Graph) -> object:
    x = g.any()
    pads = [g.picks.below(3) for _ in range(2 * g.values[x].ndim)]
    if not pads:
        return None
    widths = list(zip(pads[: len(pads) // 2], pads[len(pads) // 2 :], strict=True))
    attrs = {"pads": tuple(pads), "value": 0.5}
    return g.apply("pad", [x], attrs, lambda xs: np.pad(xs[0], widths, constant_values=0.5))


def _take(g: _Graph) -> object:
    x = g.any()
    rank = g.values[x].ndim
    if not rank:
        return None
    axis = g.picks.below(rank)
    size = g.values[x].shape[axis]
    indices = np.array([g.picks.below(size) for _ in range(1 + g.picks.below(4))], np.int64)
    table = np.eye(size)[indices]

    def meaning(xs: Sequence[Array]) -> Array:
        return np.moveaxis(np.tensordot(table, xs[0], (1, axis)), 0, axis)

    at = g.apply("take", [x], {"axis": axis}, meaning)
    if at is not None:
        g.operations[at] = _Operation("take", (x,), {"axis": axis}, meaning, (indices,))
    return at


def _window_attrs(g: _Graph, rank: int, kernel: Sequence[int]) -> Attrs:
    pick = g.picks.pick
    return {
        "strides": tuple(pick((1, 2)) for _ in range(rank)),
        "dilations": tuple(pick((1, 1, 2)) for _ in range(rank)),
        "pads": tuple(g.picks.below(size) for size in (*kernel, *kernel)),
    }


def _conv(g: _Graph) -> object:
    rank, groups = g.picks.pick((1, 2)), g.picks.pick((1, 2))
    kernel = [g.picks.pick((2, 1, 3)) for _ in range(rank)]
    attrs = {**_window_attrs(g, rank, kernel), "groups": groups}
    inner, outer = g.picks.pick((1, 2)), g.picks.pick((1, 2)) * groups
    x = g.param((1, inner * groups, *(2 * size + 1 for size in kernel)))
    w = g.param((outer, inner, *kernel))
    return g.apply("conv", [x, w], attrs, lambda xs: convolve(xs[0], xs[1], **attrs))


def _pool(name: str) -> Callable[[_Graph], object]:
    def draw(g: _Graph) -> object:
        rank = g.picks.pick((1, 2))
        kernel = tuple(g.picks.pick((2, 3)) for _ in range(rank))
        attrs = {**_window_attrs(g, rank, kernel), "kernel": kernel}
        average = name == "avg_pool"
        if average:
            attrs["count_include_pad"] = bool(g.picks.below(2))
        x = g.param((1, g.picks.pick((1, 2)), *(2 * size + 1 for size in kernel)))
        return g.apply(name, [x], attrs, lambda xs: pool(xs[0], average=average, **attrs))

    return draw


def _batch_norm(g: _Graph) -> object:
    c = g.picks.pick((2, 1, 3))
    args = [g.param((2, c, 2)), *(g.param((c,)) for _ in range(3))]
    variance = g.param((c,))
    wide = g.apply("multiply", [variance, variance], {}, lambda xs: xs[0] * xs[1])
    if wide is None:
        return None

    def meaning(xs: Sequence[Array]) -> Array:
        x, scale, shift, mean, var = (
            each.reshape(-1, 1) if each.ndim == 1 else each for each in xs
        )
        return (x - mean) / np.sqrt(var + 0.1) * scale + shift

    return g.apply("batch_norm", [*args, wide], {"epsilon": 0.1}, meaning)


_DRAWS: dict[str, Callable[[_Graph], object]] = {
    "exp": _unary("exp", np.exp),
    "tanh": _unary("tanh", np.tanh),
    "sin": _unary("sin", np.sin),
    "cos": _unary("cos", np.cos),
    "log": _unary("log", np.log),
    "log1p": _unary("log1p", np.log1p),
    "expm1": _unary("expm1", np.expm1),
    "sqrt": _unary("sqrt", np.sqrt),
    "rsqrt": _unary("rsqrt", lambda x: 1 / np.sqrt(x)),
    "asin": _unary("asin", np.arcsin),
    "atan": _unary("atan", np.arctan),
    "sinh": _unary("sinh", np.sinh),
    "asinh": _unary("asinh", np.arcsinh),
    "abs": _unary("abs", np.abs),
    "negative": _unary("negative", np.negative),
    "reciprocal": _unary("reciprocal", np.reciprocal),
    "sigmoid": _unary("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    "relu": _unary("relu", lambda x: np.maximum(x, 0)),
    "add": _binary("add", np.add),
    "subtract": _binary("subtract", np.subtract),
    "multiply": _binary("multiply", np.multiply),
    "divide": _binary("divide", np.divide),
    "maximum": _binary("maximum", np.maximum),
    "minimum": _binary("minimum", np.minimum),
    "power": _binary("power", np.power),
    "atan2": _binary("atan2", np.arctan2),
    "sum": _reduction("sum", np.sum),
    "mean": _reduction("mean", np.mean),
    "max": _reduction("max", np.max),
    "min": _reduction("min", np.min),
    "prod": _reduction("prod", np.prod),
    "softmax": _along("softmax", _softmax),
    "log_softmax": _along("log_softmax", _log_softmax),
    "matmul": _matmul,
    "reshape": _reshape,
    "transpose": _transpose,
    "expand_dims": _expand,
    "broadcast_to": _broadcast,
    "concat": _concat,
    "slice": _slice,
    "pad": _pad,
    "take": _take,
    "conv": _conv,
    "max_pool": _pool("max_pool"),
    "avg_pool": _pool("avg_pool"),
    "batch_norm": _batch_norm,
}
"""Operators, each with what draws it and computes it in NumPy."""
