"""Pooling, against plain NumPy and as loops."""

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.core import walk
from tests.draws import few_or_all
from tests.te.agree import agree
from tests.topi.nn.windows import padded, places, slid

RNG = np.random.default_rng(6)


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


@settings(max_examples=few_or_all(20, 50), deadline=None, derandomize=True)
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


def test_the_index_of_the_maximum_counts_over_the_whole_input() -> None:
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


def test_the_first_of_equal_elements_in_row_major_order_counts() -> None:
    x = te.placeholder((1, 2, 2, 3), name="x")
    value = np.array([[[[0, 5, 1], [5, 2, 5]], [[1, 1, 1], [1, 1, 1]]]], np.float32)
    for by_columns, wanted in ((False, [[1, 1], [6, 7]]), (True, [[2, 2], [6, 8]])):
        _, where = topi.max_pool_with_indices(x, (2, 2), column_major=by_columns)
        agree([where], {x: value}, np.array([[[each] for each in wanted]], np.int64))


def topi_max(value: Any) -> Any:
    n, c, h, w = value.shape
    return value.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


@settings(max_examples=few_or_all(20, 50), deadline=None, derandomize=True)
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
