"""Convolution, pooling and normalisation, against plain NumPy and as loops."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit import te, topi
from irkit.core import ShapeError, walk
from tests.te.agree import agree

RNG = np.random.default_rng(6)


def padded(x: Any, begins: Any, ends: Any, value: Any) -> Any:
    around = [(0, 0), (0, 0), *zip(begins, ends, strict=True)]
    return np.pad(x, around, constant_values=value)


def places(
    dims: Any, kernel: Any, strides: Any, pads: Any, dilations: Any, ceil_mode: bool = False
) -> list[range]:
    """List where windows begin along each axis, in the padded input."""
    found = []
    rank = len(dims)
    for at, dim in enumerate(dims):
        whole = dim + pads[at] + pads[rank + at]
        reach = (kernel[at] - 1) * dilations[at] + 1
        starts = [start for start in range(0, whole, strides[at]) if start + reach <= whole]
        after = (starts[-1] if starts else -strides[at]) + strides[at]
        over = ceil_mode and after < dim + pads[at] and (after - strides[at] + reach) < whole
        found.append(range(0, after + (strides[at] if over else 0), strides[at]))
    return found


def window_at(array: Any, start: Any, kernel: Any, dilations: Any) -> Any:
    """Cut out what lies in one window; what is beyond the array is left out."""
    slices = tuple(
        slice(begin, begin + (size - 1) * dilation + 1, dilation)
        for begin, size, dilation in zip(start, kernel, dilations, strict=True)
    )
    return array[(slice(None), slice(None), *slices)]


def slid(x: Any, starts: list[range], kernel: Any, dilations: Any, function: Any) -> Any:
    """Apply a function that gives [N, K] to each window."""
    sizes = [len(each) for each in starts]
    columns = [
        function(window_at(x, start, kernel, dilations)) for start in itertools.product(*starts)
    ]
    return np.stack(columns, -1).reshape(*columns[0].shape, *sizes)


def conv_by_hand(x: Any, w: Any, strides: Any, pads: Any, dilations: Any, groups: int) -> Any:
    rank, kernel = x.ndim - 2, w.shape[2:]
    starts = places(x.shape[2:], kernel, strides, pads, dilations)
    whole = padded(x, pads[:rank], pads[rank:], 0)
    axes = list(range(1, rank + 2))

    def one(window: Any) -> Any:
        pieces = zip(np.split(window, groups, 1), np.split(w, groups), strict=True)
        return np.concatenate([np.tensordot(a, b, (axes, axes)) for a, b in pieces], 1)

    return slid(whole, starts, kernel, dilations, one)


CONVOLUTIONS = [
    ((2, 3, 7), (4, 3, 3), {}),
    ((1, 3, 6, 5), (4, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 3, 6, 5), (4, 3, 3, 2), {"strides": (2, 1), "pads": (0, 1, 2, 0)}),
    ((1, 4, 6, 6), (6, 2, 3, 3), {"groups": 2, "dilations": (2, 1)}),
    ((2, 4, 5, 5), (4, 1, 3, 3), {"groups": 4, "pads": (1, 1, 1, 1)}),
    ((1, 2, 5, 5), (6, 1, 1, 1), {"groups": 2}),
    ((1, 2, 4, 4, 3), (3, 2, 2, 2, 2), {"strides": (2, 1, 1)}),
]


@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CONVOLUTIONS)
def test_convolutions_agree_with_numpy(x_shape: Any, w_shape: Any, options: Any) -> None:
    x, w = te.placeholder(x_shape, name="x"), te.placeholder(w_shape, name="w")
    bias = te.placeholder((w_shape[0],), name="bias")
    a, b, c = (RNG.random(tuple(s), np.float32) for s in (x_shape, w_shape, w_shape[:1]))
    rank = len(x_shape) - 2
    filled = {"strides": (1,) * rank, "pads": (0,) * 2 * rank, "dilations": (1,) * rank}
    right = conv_by_hand(a, b, **{**filled, "groups": 1, **options})
    agree(topi.conv(x, w, **options), {x: a, w: b}, right)
    shifted = right + c.reshape(-1, *(1,) * rank)
    agree(topi.conv(x, w, bias, **options), {x: a, w: b, bias: c}, shifted)


def test_convolution_of_symbolic_images() -> None:
    n, h = te.var("n"), te.var("h")
    x, w = te.placeholder((n, 2, h, h), name="x"), te.placeholder((3, 2, 3, 3), name="w")
    a, b = RNG.random((2, 2, 7, 7), np.float32), RNG.random((3, 2, 3, 3), np.float32)
    made = topi.conv(x, w, strides=(2, 2), pads=(1, 1, 1, 1))
    agree(made, {x: a, w: b}, conv_by_hand(a, b, (2, 2), (1, 1, 1, 1), (1, 1), 1))


def test_padding_of_a_convolution_is_a_stage_of_its_own() -> None:
    x, w = te.placeholder((1, 1, 4, 4), name="x"), te.placeholder((1, 1, 3, 3), name="w")
    stages = [op.name for op in te.operations_of([topi.conv(x, w, pads=(1, 1, 1, 1))])]
    assert stages == ["x", "pad", "w", "conv"]
    assert [op.name for op in te.operations_of([topi.conv(x, w)])] == ["x", "w", "conv"]


def test_convolution_of_small_integers_gathers_where_told() -> None:
    x, w = te.placeholder((1, 2, 5), "uint8", "x"), te.placeholder((3, 2, 3), "uint8", "w")
    a, b = RNG.integers(0, 255, (1, 2, 5)), RNG.integers(0, 255, (3, 2, 3))
    right = conv_by_hand(a, b, (1,), (0, 0), (1,), 1).astype(np.int32)
    inputs = {x: a.astype(np.uint8), w: b.astype(np.uint8)}
    agree(topi.conv(x, w, out_dtype="int32"), inputs, right)


def test_filters_that_do_not_fit_are_named() -> None:
    x, w = te.placeholder((1, 4, 5), name="x"), te.placeholder((3, 3, 3), name="w")
    with pytest.raises(ShapeError, match="channels of 'x' and of 'w' times 1: 4 against 3"):
        topi.conv(x, w)
    with pytest.raises(ShapeError, match="3 filters do not go into 2 groups"):
        topi.conv(x, te.placeholder((3, 2, 3)), groups=2)
    with pytest.raises(ShapeError, match="does not fit along spatial axis 0"):
        topi.conv(x, te.placeholder((3, 4, 6)))
    with pytest.raises(ShapeError, match="1 spatial axes need 1 strides"):
        topi.conv(x, te.placeholder((3, 4, 3)), strides=(1, 1))
    with pytest.raises(ShapeError, match=r"'w2' of shape \[3, 4\] must have 3 axes"):
        topi.conv(x, te.placeholder((3, 4), name="w2"))


@st.composite
def poolings(draw: Any) -> Any:
    """Draw an input shape and a window that fits it, with pads smaller than the window."""
    rank = draw(st.integers(1, 2))
    dims = [draw(st.integers(4, 7)) for _ in range(rank)]
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    options = {
        "strides": [draw(st.integers(1, 3)) for _ in range(rank)],
        "dilations": [draw(st.integers(1, 2 if k == 2 else 1)) for k in kernel],
        "pads": [draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)],
        "ceil_mode": draw(st.booleans()),
    }
    return dims, kernel, options


@settings(max_examples=50, deadline=None, derandomize=True)
@given(poolings(), st.sampled_from(["float32", "int8"]), st.booleans())
def test_max_pooling_agrees_with_numpy(drawn: Any, dtype: str, symbolic: bool) -> None:
    dims, kernel, options = drawn
    value = RNG.permutation(2 * int(np.prod(dims))).reshape(1, 2, *dims).astype(dtype) - 60
    extents = tuple(te.var(f"d{at}") for at in range(len(dims))) if symbolic else tuple(dims)
    x = te.placeholder((1, 2, *extents), dtype, "x")
    starts = places(dims, kernel, **{key: options[key] for key in options})
    rank = len(dims)
    lowest = -np.inf if dtype == "float32" else -128
    pads, dilations = options["pads"], options["dilations"]
    axes = tuple(range(2, 2 + rank))
    whole = padded(value, pads[:rank], pads[rank:], lowest)
    right = slid(whole, starts, kernel, dilations, lambda window: window.max(axes))
    inputs = {x: value}
    agree(topi.max_pool(x, kernel, **options), inputs, right)
    agree(list(topi.max_pool_with_indices(x, kernel, **options))[:1], inputs, right)


def test_the_place_of_the_largest_counts_over_the_whole_input() -> None:
    x = te.placeholder((2, 2, 4, 6), name="x")
    value = RNG.permutation(96).reshape(2, 2, 4, 6).astype(np.float32)
    best, where = topi.max_pool_with_indices(x, (2, 2), strides=(2, 2), pads=(1, 0, 1, 0))
    places_found = te.evaluate([where, best], {x: value})
    np.testing.assert_array_equal(value.ravel()[places_found[0]], places_found[1])
    agree([best, where], {x: value})
    _, turned = topi.max_pool_with_indices(x, (2, 2), strides=(2, 2), column_major=True)
    (flat,) = te.evaluate([turned], {x: value})
    straight = value.transpose(0, 1, 3, 2).ravel()
    np.testing.assert_array_equal(straight[flat], topi_max(value))


def test_of_equals_the_first_along_rows_is_given_however_places_are_counted() -> None:
    x = te.placeholder((1, 2, 2, 3), name="x")
    value = np.array([[[[0, 5, 1], [5, 2, 5]], [[1, 1, 1], [1, 1, 1]]]], np.float32)
    for by_columns, wanted in ((False, [[1, 1], [6, 7]]), (True, [[2, 2], [6, 8]])):
        _, where = topi.max_pool_with_indices(x, (2, 2), column_major=by_columns)
        agree([where], {x: value}, np.array([[[each] for each in wanted]], np.int64))


def topi_max(value: Any) -> Any:
    n, c, h, w = value.shape
    return value.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(poolings(), st.booleans(), st.booleans())
def test_average_pooling_agrees_with_numpy(drawn: Any, include: bool, symbolic: bool) -> None:
    dims, kernel, options = drawn
    value = RNG.random((1, 2, *dims), np.float32)
    extents = tuple(te.var(f"d{at}") for at in range(len(dims))) if symbolic else tuple(dims)
    x = te.placeholder((1, 2, *extents), name="x")
    starts = places(dims, kernel, **{key: options[key] for key in options})
    rank, pads = len(dims), options["pads"]
    whole = padded(value, pads[:rank], pads[rank:], 0)
    counts = padded(np.ones_like(value), pads[:rank], pads[rank:], float(include))
    axes = tuple(range(2, 2 + rank))
    total, number = (
        slid(array, starts, kernel, options["dilations"], lambda window: window.sum(axes))
        for array in (whole, counts)
    )
    with np.errstate(invalid="ignore"):
        right = total / number
    agree(topi.avg_pool(x, kernel, count_include_pad=include, **options), {x: value}, right)


def test_average_pooling_without_padding_divides_by_a_constant() -> None:
    x = te.placeholder((1, 2, 6, 6), name="x")
    pooled = topi.avg_pool(x, (3, 3), strides=(3, 3))
    assert not any(isinstance(node, te.IterVar) for node in walk(pooled.op.body[0].b))  # pyright: ignore
    value = RNG.random((1, 2, 6, 6), np.float32)
    agree(pooled, {x: value}, value.reshape(1, 2, 2, 3, 2, 3).mean((3, 5)))


def test_global_pools_keep_axes_of_extent_one() -> None:
    x = te.placeholder((2, 3, 4, 5), name="x")
    value = RNG.random((2, 3, 4, 5), np.float32)
    made = [topi.global_avg_pool(x), topi.global_max_pool(x)]
    agree(made, {x: value}, value.mean((2, 3), keepdims=True), value.max((2, 3), keepdims=True))


def test_batch_normalisation_agrees_with_its_definition() -> None:
    x = te.placeholder((2, 3, 4), name="x")
    given_ = [te.placeholder((3,), name=name) for name in ("scale", "bias", "mean", "variance")]
    value = RNG.random((2, 3, 4), np.float32)
    s, b, m, v = (RNG.random(3, np.float32) for _ in range(4))
    sc, bc, mc, vc = (each.reshape(3, 1) for each in (s, b, m, v))
    right = (value - mc) / np.sqrt(vc + np.float32(1e-3)) * sc + bc
    inputs = {x: value, **dict(zip(given_, (s, b, m, v), strict=True))}
    agree(topi.batch_norm(x, *given_, epsilon=1e-3), inputs, right)
    with pytest.raises(ShapeError, match="'short' needs one value a channel of 'x': 2 against 3"):
        topi.batch_norm(x, *given_[:3], te.placeholder((2,), name="short"))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_local_response_normalisation_agrees_with_its_definition(size: int) -> None:
    x = te.placeholder((2, 5, 3, 2), name="x")
    value = RNG.random((2, 5, 3, 2), np.float32)
    squares = np.zeros_like(value)
    for c in range(5):
        low, high = max(0, c - (size - 1) // 2), min(5, c + size // 2 + 1)
        squares[:, c] = (value[:, low:high] ** 2).sum(1)
    right = value / (2.0 + 0.1 / size * squares) ** 0.75
    made = topi.lrn(x, size, alpha=0.1, beta=0.75, bias=2.0)
    agree(made, {x: value}, right.astype(np.float32))
