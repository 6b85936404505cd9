"""Reductions, against NumPy and as loops."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.core import ShapeError
from irkit.graph import op_spec
from tests.draws import few_or_all
from tests.te.agree import agree

RNG = np.random.default_rng(4)


@settings(max_examples=few_or_all(16, 40), deadline=None, derandomize=True)
@given(
    st.sampled_from(["sum", "prod", "max", "min", "mean"]),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.booleans(),
    st.data(),
)
def test_reductions_agree_with_numpy(
    name: str, shape: list[int], keepdims: bool, data: Any
) -> None:
    rank = len(shape)
    axes = data.draw(st.none() | st.sets(st.integers(0, rank - 1), min_size=1).map(tuple))
    x = te.placeholder(tuple(shape), name="x")
    value = RNG.random(shape, np.float32)
    expected = getattr(np, name)(value, axis=axes, keepdims=keepdims)
    agree(getattr(topi, name)(x, axes, keepdims), {x: value}, np.asarray(expected, np.float32))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "int64"])
def test_integers_reduce_in_their_own_type(dtype: str) -> None:
    x = te.placeholder((2, 9), dtype, "x")
    value = RNG.integers(0, 100, (2, 9)).astype(dtype)
    made = [topi.sum(x, 1), topi.max(x, -1), topi.min(x, 1)]
    agree(made, {x: value}, value.sum(1, dtype=dtype), value.max(1), value.min(1))


def test_sums_of_half_floats_accumulate_in_single_precision() -> None:
    x = te.placeholder((4096,), "float16", "x")
    value = np.full(4096, 1.0, np.float16)
    agree([topi.sum(x), topi.mean(x)], {x: value}, np.float16(4096), np.float16(1))
    part = np.full(4096, 1 / 4096, np.float16)
    agree(topi.softmax(x), {x: value}, part)
    agree(topi.log_softmax(x), {x: value}, np.log(part, dtype=np.float32).astype(np.float16))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_of_equal_elements_is_found(name: str, keepdims: bool) -> None:
    x = te.placeholder((3, 6), name="x")
    value = RNG.integers(0, 3, (3, 6)).astype(np.float32)
    value[1, 2:5] = np.nan
    value[2] = -np.inf
    expected = getattr(np, name)(value, axis=1, keepdims=keepdims)
    agree(getattr(topi, name)(x, 1, keepdims), {x: value}, expected)


def test_the_last_of_equal_elements_is_found_on_request() -> None:
    x = te.placeholder((5,), "int32", "x")
    value = np.array([1, 3, 0, 3, 0], np.int32)
    made = [topi.argmax(x, 0, last=True), topi.argmin(x, 0, last=True)]
    agree(made, {x: value}, np.int64(3), np.int64(4))


def test_reductions_of_nothing_give_the_identity() -> None:
    n = te.var("n")
    for extent in (0, n):
        x = te.placeholder((2, extent), name="x")
        value = np.zeros((2, 0), np.float32)
        infinite = np.full(2, -np.inf, np.float32)
        agree([topi.sum(x, 1), topi.max(x, 1)], {x: value}, np.zeros(2, np.float32), infinite)


def test_an_axis_that_is_not_there_is_named() -> None:
    x = te.placeholder((2, 3), name="x")
    with pytest.raises(ShapeError, match="sum: axis 2 does not exist; the tensor has 2 axes"):
        topi.sum(x, 2)
    with pytest.raises(ShapeError, match="name an axis twice"):
        topi.sum(x, (0, -2))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_a_mean_of_more_integers_than_their_type_can_count(dtype: str) -> None:
    value = np.array([[-128 if dtype != "uint8" else 200] + [0] * 299], dtype)
    x = te.placeholder(value.shape, dtype, "x")
    expected = np.array([0], dtype)
    agree([topi.mean(x, axis=1)], {x: value}, expected)
    op = op_spec("mean")
    assert op.evaluate([value], (("axes", (1,)),)) == expected
    few = value[:, :3]
    quotient = int(few[0, 0]) / 3
    assert op.evaluate([few], (("axes", (1,)),)) == np.array([quotient]).astype(dtype)
