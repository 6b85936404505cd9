"""Applications of each operator at points where it is smooth: arrays in f64, and attributes.

Numbers of one array differ by at least a tenth of their range over their count, so nothing is near
a tie, and they stay away from multiples of a half, where steps and kinks are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from irkit.ir import INTRINSICS

Array = np.ndarray[Any, Any]
Attrs = dict[str, Any]
Case = tuple[list[Array], Attrs]
Draw = st.DrawFn


def numbers(draw: Draw, shape: tuple[int, ...], low: float = -2, high: float = 2) -> Array:
    """Draw numbers of a range in random order, evenly apart, none of them near a half."""
    random = np.random.default_rng(draw(st.integers(0, 2**16)))
    count = int(np.prod(shape))
    found = low + (high - low) * (np.arange(count) + 0.5) / max(count, 1)
    near = np.abs(found * 2 - np.round(found * 2)) < 0.008
    return random.permutation(np.where(near, found + 0.008, found)).reshape(shape)


def shapes(draw: Draw, least: int = 0, most: int = 3) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(1, 4), min_size=least, max_size=most)))


def part_of(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Draw a shape that broadcasts with another."""
    found = tuple(1 if draw(st.booleans()) else size for size in shape)
    return found[draw(st.integers(0, len(shape))) :]


def axes_of(draw: Draw, rank: int) -> tuple[int, ...]:
    axes = draw(st.lists(st.integers(-rank, rank - 1), max_size=rank, unique_by=lambda a: a % rank))
    return tuple(axes)


def unary(name: str) -> Callable[[Draw], Case]:
    low, high = INTRINSICS[name].smooth if name in INTRINSICS else (-3.0, 3.0)
    low, high = max(low, -3.0), min(high, 3.0)
    if name == "reciprocal":
        low, high = 0.3, 3.0

    def case(draw: Draw) -> Case:
        return [numbers(draw, shapes(draw), low, high)], {}

    return case


def binary(low: float, high: float) -> Callable[[Draw], Case]:
    """Draw two arrays of which one broadcasts; the second is within a range."""

    def case(draw: Draw) -> Case:
        shape = shapes(draw)
        other = part_of(draw, shape)
        first = numbers(draw, shape, 0.31, 2.07)
        second = numbers(draw, other, low, high)
        return [first, second] if low < 0 or draw(st.booleans()) else [second, first], {}

    return case


def modulo(draw: Draw) -> Case:
    """Draw quotients that are not near a whole number."""
    shape = shapes(draw, 1)
    divisor = numbers(draw, part_of(draw, shape), 1.1, 2.9)
    whole = np.random.default_rng(draw(st.integers(0, 99))).integers(-3, 3, shape)
    quotient = whole + numbers(draw, shape, 0.1, 0.9)
    return [np.broadcast_to(divisor, shape) * quotient, divisor], {}


def where(draw: Draw) -> Case:
    shape = shapes(draw)
    cond = numbers(draw, part_of(draw, shape)) > 0
    sides = [numbers(draw, shape), numbers(draw, part_of(draw, shape))]
    return [cond, *(sides if draw(st.booleans()) else sides[::-1])], {}


def matmul(draw: Draw) -> Case:
    m, k, n = (draw(st.integers(1, 3)) for _ in range(3))
    batch = shapes(draw, 0, 2)
    a = (k,) if draw(st.booleans()) else (*part_of(draw, batch), m, k)
    b = (k,) if draw(st.integers(0, 3)) == 0 else (*batch, k, n)
    return [numbers(draw, a), numbers(draw, b)], {}


def window(
    draw: Draw, spatial: int, kernel: tuple[int, ...], *, pools: bool
) -> tuple[Attrs, list[int]]:
    """Draw attributes of a window, and extents that it fits into."""
    strides = [draw(st.integers(1, 3)) for _ in kernel]
    dilations = [draw(st.integers(1, 2)) for _ in kernel]
    spans = [(size - 1) * by + 1 for size, by in zip(kernel, dilations, strict=True)]
    most = [span - 1 if pools else 3 for span in spans]
    pads = [draw(st.integers(0, min(limit, 3))) for limit in (*most, *most)]
    extents = [span + draw(st.integers(0, 3)) for span in spans]
    return {"strides": tuple(strides), "dilations": tuple(dilations), "pads": tuple(pads)}, extents


def conv(draw: Draw) -> Case:
    spatial = draw(st.integers(1, 2))
    kernel = tuple(draw(st.integers(1, 3)) for _ in range(spatial))
    attrs, extents = window(draw, spatial, kernel, pools=False)
    groups = draw(st.integers(1, 2))
    inner, per_group = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    x = numbers(draw, (draw(st.integers(1, 2)), groups * inner, *extents))
    w = numbers(draw, (groups * per_group, inner, *kernel))
    bias = [numbers(draw, (groups * per_group,))] if draw(st.booleans()) else []
    return [x, w, *bias], {**attrs, "groups": groups}


def pool(average: bool) -> Callable[[Draw], Case]:
    def case(draw: Draw) -> Case:
        spatial = draw(st.integers(1, 2))
        kernel = tuple(draw(st.integers(1, 3)) for _ in range(spatial))
        attrs, extents = window(draw, spatial, kernel, pools=True)
        attrs |= {"kernel": kernel, "ceil_mode": draw(st.booleans())}
        if average:
            attrs["count_include_pad"] = draw(st.booleans())
        shape = (draw(st.integers(1, 2)), draw(st.integers(1, 2)), *extents)
        return [numbers(draw, shape)], attrs

    return case


def large_max_pool(draw: Draw) -> Case:
    """Draw a window with more places than are taken apart one by one."""
    x = numbers(draw, (2, 2, 9, 8))
    return [x], {"kernel": (8, 7), "strides": (1, draw(st.integers(1, 2))), "pads": (1, 0, 0, 2)}


def reduction(low: float, high: float) -> Callable[[Draw], Case]:
    def case(draw: Draw) -> Case:
        shape = shapes(draw)
        attrs = {
            "axes": axes_of(draw, len(shape)) if shape else (),
            "keepdims": draw(st.booleans()),
        }
        return [numbers(draw, shape, low, high)], attrs

    return case


def prod(draw: Draw) -> Case:
    arrays, attrs = reduction(0.5, 2.0)(draw)
    for at in draw(st.lists(st.integers(0, max(arrays[0].size - 1, 0)), max_size=3)):
        arrays[0].reshape(-1)[at] = 0.0
    return arrays, attrs


def along(draw: Draw) -> Case:
    shape = shapes(draw, 1)
    return [numbers(draw, shape)], {"axis": draw(st.integers(-len(shape), len(shape) - 1))}


def batch_norm(draw: Draw) -> Case:
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), *shapes(draw, 0, 2))
    vectors = [numbers(draw, (shape[1],)) for _ in range(3)]
    return [numbers(draw, shape), *vectors, numbers(draw, (shape[1],), 0.3, 2)], {"epsilon": 0.1}


def lrn(draw: Draw) -> Case:
    shape = (1, draw(st.integers(1, 5)), *shapes(draw, 0, 2))
    size = draw(st.integers(1, 6))
    return [numbers(draw, shape)], {"size": size, "alpha": 0.7, "beta": 0.6, "bias": 1.3}


def reshape(draw: Draw) -> Case:
    shape = shapes(draw)
    count = int(np.prod(shape))
    targets = [shape, (count,), (1, -1), (*shape[::-1], 1), tuple(sorted(shape))]
    return [numbers(draw, shape)], {"shape": draw(st.sampled_from(targets))}


def transpose(draw: Draw) -> Case:
    shape = shapes(draw)
    axes = draw(st.permutations(range(len(shape)))) if draw(st.booleans()) else ()
    return [numbers(draw, shape)], {"axes": tuple(axes)}


def expand_dims(draw: Draw) -> Case:
    shape = shapes(draw)
    return [numbers(draw, shape)], {"axes": (0, draw(st.sampled_from([-1, len(shape) + 1])))}


def squeeze(draw: Draw) -> Case:
    shape = (1, *shapes(draw, 0, 2), 1)
    return [numbers(draw, shape)], {"axes": draw(st.sampled_from([(0,), (-1,), (0, -1)]))}


def broadcast_to(draw: Draw) -> Case:
    shape = shapes(draw)
    return [numbers(draw, part_of(draw, shape))], {"shape": shape}


def concat(draw: Draw) -> Case:
    shape = shapes(draw, 1)
    axis = draw(st.integers(0, len(shape) - 1))
    parts: list[Array] = []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(0, 3))
        parts.append(numbers(draw, (*shape[:axis], size, *shape[axis + 1 :])))
    return parts, {"axis": axis}


def slice_(draw: Draw) -> Case:
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=2)))
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    bounds = st.integers(-9, 9)
    attrs: Attrs = {"axes": tuple(axes)}
    for name in ("begins", "ends"):
        attrs[name] = tuple(draw(bounds) for _ in axes)
    attrs["strides"] = tuple(draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in axes)
    return [numbers(draw, shape)], attrs


def pad(draw: Draw) -> Case:
    shape = shapes(draw, 1)
    pads = [draw(st.integers(-1, 2)) for _ in (*shape, *shape)]
    for at, extent in enumerate(shape):
        if pads[at] + pads[len(shape) + at] < -extent or extent == 1:
            pads[at] = 1
    return [numbers(draw, shape)], {"pads": tuple(pads), "value": 2.5}


def take(draw: Draw) -> Case:
    """Draw indices, some from the end and some out of range, which are moved to the range."""
    shape = shapes(draw, 1)
    axis = draw(st.integers(0, len(shape) - 1))
    indices = draw(st.lists(st.integers(-6, 6), min_size=1, max_size=4))
    kind = draw(st.sampled_from(["int64", "int32"]))
    several = np.array(indices, kind)
    folded = several.reshape(-1, 1) if draw(st.booleans()) else several
    return [numbers(draw, shape), folded], {"axis": axis}


def scatter(draw: Draw) -> Case:
    """Draw rows for places of which some are the same, and some outside."""
    shape = shapes(draw, 1)
    axis = draw(st.integers(0, len(shape) - 1))
    count = draw(st.integers(1, len(shape) - axis))
    rows = draw(st.integers(1, 4))
    index = st.lists(st.integers(-4, 4), min_size=count, max_size=count)
    indices = np.array(draw(st.lists(index, min_size=rows, max_size=rows)), "int64")
    updates = (*shape[:axis], rows, *shape[axis + count :])
    return [numbers(draw, shape), indices, numbers(draw, updates)], {"axis": axis}


def full(draw: Draw) -> Case:
    return [], {"shape": shapes(draw), "value": 1.5, "dtype": "f64"}


OTHERS: dict[str, list[Callable[[Draw], Case]]] = {
    "add": [binary(-2, 2)],
    "subtract": [binary(-2, 2)],
    "multiply": [binary(-2, 2)],
    "divide": [binary(0.3, 2)],
    "power": [binary(0.3, 2), binary(-1.7, -0.2)],
    "maximum": [binary(-2.02, 2.03)],
    "minimum": [binary(-2.02, 2.03)],
    "floor_mod": [modulo],
    "fmod": [modulo],
    "atan2": [binary(-2, 2)],
    "where": [where],
    "matmul": [matmul],
    "conv": [conv],
    "max_pool": [pool(False), large_max_pool],
    "max_pool_with_indices": [pool(False)],
    "avg_pool": [pool(True)],
    "sum": [reduction(-2, 2)],
    "mean": [reduction(-2, 2)],
    "max": [reduction(-2, 2)],
    "min": [reduction(-2, 2)],
    "prod": [prod],
    "softmax": [along],
    "log_softmax": [along],
    "batch_norm": [batch_norm],
    "lrn": [lrn],
    "reshape": [reshape],
    "transpose": [transpose],
    "expand_dims": [expand_dims],
    "squeeze": [squeeze],
    "broadcast_to": [broadcast_to],
    "concat": [concat],
    "slice": [slice_],
    "pad": [pad],
    "take": [take],
    "scatter": [scatter],
    "full": [full],
    "cast": [lambda draw: ([numbers(draw, shapes(draw))], {"dtype": "f64"})],
}


def cases(name: str) -> st.SearchStrategy[Case]:
    """Draw applications of an operator."""
    draws = OTHERS.get(name, [unary(name)] if name not in OTHERS else [])
    return st.one_of(*(st.composite(each)() for each in draws))
