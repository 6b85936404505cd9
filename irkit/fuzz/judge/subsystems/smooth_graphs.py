"""Graphs of differentiable operators under construction, with what NumPy computes for them."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.fuzz.generators.sample import Array
from irkit.fuzz.judge.subsystems.numpy_windows import convolve, pool
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Value, tensor_type
from irkit.ir import F64

_SHAPES = ((3,), (2, 3), (2, 2, 3), (), (1, 3), (4, 1), (1,), (3, 3))
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


class SmoothGraph:
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


def _unary(name: str, function: Callable[[Array], Array]) -> Callable[[SmoothGraph], object]:
    return lambda g: g.apply(name, [g.any()], {}, lambda xs: function(xs[0]))


def _binary(
    name: str, function: Callable[[Array, Array], Array]
) -> Callable[[SmoothGraph], object]:
    def draw(g: SmoothGraph) -> object:
        a = g.any()
        args = [a, g.like(a)]
        if g.picks.below(2):
            args.reverse()
        return g.apply(name, args, {}, lambda xs: function(*xs))

    return draw


def _axes_of(g: SmoothGraph, at: int) -> tuple[int, ...]:
    rank = g.values[at].ndim
    axes = g.picks.some(list(range(rank)), 2) if rank else []
    return tuple(axis - rank if g.picks.one_in(3) else axis for axis in axes)


def _reduction(name: str, function: Callable[..., Any]) -> Callable[[SmoothGraph], object]:
    def draw(g: SmoothGraph) -> object:
        x = g.any()
        axes, keepdims = _axes_of(g, x), bool(g.picks.below(2))
        attrs = {"axes": axes, "keepdims": keepdims}
        return g.apply(
            name, [x], attrs, lambda xs: function(xs[0], axes or None, keepdims=keepdims)
        )

    return draw


def _along(name: str, function: Callable[[Array, int], Array]) -> Callable[[SmoothGraph], object]:
    def draw(g: SmoothGraph) -> object:
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


def _matmul(g: SmoothGraph) -> object:
    m, k, n = (g.picks.pick((2, 3, 1)) for _ in range(3))
    batch = g.picks.pick(((), (2,), (1,)))
    other = g.picks.pick(((), batch, (2,) if batch != (2,) else (1,)))
    a, b = g.param((*batch, m, k)), g.param((*other, k, n))
    return g.apply("matmul", [a, b], {}, lambda xs: xs[0] @ xs[1])


def _reshape(g: SmoothGraph) -> object:
    x = g.any()
    shape = g.picks.pick(((-1,), (1, -1), tuple(reversed(g.values[x].shape))))
    return g.apply("reshape", [x], {"shape": shape}, lambda xs: xs[0].reshape(shape))


def _transpose(g: SmoothGraph) -> object:
    x = g.any()
    axes = list(range(g.values[x].ndim))
    order = tuple(axes.pop(g.picks.below(len(axes))) for _ in range(len(axes)))
    if not order:
        return None
    return g.apply("transpose", [x], {"axes": order}, lambda xs: xs[0].transpose(order))


def _expand(g: SmoothGraph) -> object:
    x = g.any()
    axis = g.picks.between(-g.values[x].ndim - 1, g.values[x].ndim)
    return g.apply("expand_dims", [x], {"axes": (axis,)}, lambda xs: np.expand_dims(xs[0], axis))


def _broadcast(g: SmoothGraph) -> object:
    x = g.any()
    shape = (2, *(2 if size == 1 else size for size in g.values[x].shape))
    return g.apply("broadcast_to", [x], {"shape": shape}, lambda xs: np.broadcast_to(xs[0], shape))


def _concat(g: SmoothGraph) -> object:
    x = g.any()
    rank = g.values[x].ndim
    if not rank:
        return None
    axis = g.picks.between(-rank, rank - 1)
    shape = list(g.values[x].shape)
    shape[axis] = g.picks.pick((2, 1, 3))
    args = [x, g.param(shape)] if g.picks.below(2) else [x, x]
    return g.apply("concat", args, {"axis": axis}, lambda xs: np.concatenate(xs, axis))


def _slice(g: SmoothGraph) -> object:
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


def _pad(g: SmoothGraph) -> object:
    x = g.any()
    pads = [g.picks.below(3) for _ in range(2 * g.values[x].ndim)]
    if not pads:
        return None
    widths = list(zip(pads[: len(pads) // 2], pads[len(pads) // 2 :], strict=True))
    attrs = {"pads": tuple(pads), "value": 0.5}
    return g.apply("pad", [x], attrs, lambda xs: np.pad(xs[0], widths, constant_values=0.5))


def _take(g: SmoothGraph) -> object:
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


def _window_attrs(g: SmoothGraph, rank: int, kernel: Sequence[int]) -> Attrs:
    pick = g.picks.pick
    return {
        "strides": tuple(pick((1, 2)) for _ in range(rank)),
        "dilations": tuple(pick((1, 1, 2)) for _ in range(rank)),
        "pads": tuple(g.picks.below(size) for size in (*kernel, *kernel)),
    }


def _conv(g: SmoothGraph) -> object:
    rank, groups = g.picks.pick((1, 2)), g.picks.pick((1, 2))
    kernel = [g.picks.pick((2, 1, 3)) for _ in range(rank)]
    attrs: Attrs = {**_window_attrs(g, rank, kernel), "groups": groups}
    inner, outer = g.picks.pick((1, 2)), g.picks.pick((1, 2)) * groups
    x = g.param((1, inner * groups, *(2 * size + 1 for size in kernel)))
    w = g.param((outer, inner, *kernel))
    return g.apply("conv", [x, w], attrs, lambda xs: convolve(xs[0], xs[1], **attrs))


def _pool(name: str) -> Callable[[SmoothGraph], object]:
    def draw(g: SmoothGraph) -> object:
        rank = g.picks.pick((1, 2))
        kernel = tuple(g.picks.pick((2, 3)) for _ in range(rank))
        attrs: Attrs = {**_window_attrs(g, rank, kernel), "kernel": kernel}
        average = name == "avg_pool"
        if average:
            attrs["count_include_pad"] = bool(g.picks.below(2))
        x = g.param((1, g.picks.pick((1, 2)), *(2 * size + 1 for size in kernel)))
        return g.apply(name, [x], attrs, lambda xs: pool(xs[0], average=average, **attrs))

    return draw


def _batch_norm(g: SmoothGraph) -> object:
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


SMOOTH_DRAWS: dict[str, Callable[[SmoothGraph], object]] = {
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
