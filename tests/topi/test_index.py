"""Slicing and indexing, against NumPy and as loops."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.core import DTypeError, ShapeError
from tests.draws import few_or_all
from tests.te.agree import agree

RNG = np.random.default_rng(5)


@settings(max_examples=few_or_all(24, 60), deadline=None, derandomize=True)
@given(
    st.integers(-8, 8),
    st.none() | st.integers(-8, 8),
    st.sampled_from([-3, -2, -1, 1, 2, 3]),
    st.booleans(),
)
def test_slices_agree_with_python(begin: int, end: int | None, step: int, symbolic: bool) -> None:
    x = te.placeholder((2, te.var("n") if symbolic else 5), name="x")
    value = RNG.random((2, 5), np.float32)
    made = topi.strided_slice(x, (begin,), (end,), (step,), axes=(1,))
    agree(made, {x: value}, value[:, begin:end:step])


def test_split_cuts_into_pieces() -> None:
    x = te.placeholder((2, 6), name="x")
    value = RNG.random((2, 6), np.float32)
    agree(topi.split(x, (1, 3, 2), 1), {x: value}, *np.split(value, (1, 4), 1))
    with pytest.raises(ShapeError, match="split: the sizes do not fill axis 1 of 'x'"):
        topi.split(x, (1, 3), 1)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_take_agrees_with_numpy(axis: int, dtype: str) -> None:
    x, at = te.placeholder((3, 4), name="x"), te.placeholder((2, 2), dtype, "at")
    value = RNG.random((3, 4), np.float32)
    index = np.array([[0, 2], [1, 1 if dtype == "uint8" else -1]], dtype)
    agree(topi.take(x, at, axis), {x: value, at: index}, np.take(value, index, axis))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint32"])
def test_take_stays_inside_for_any_index(dtype: str) -> None:
    x, at = te.placeholder((3, 4), name="x"), te.placeholder((5,), dtype, "at")
    value = RNG.random((3, 4), np.float32)
    index = np.array([100, 2, 3, 3 if dtype == "uint32" else -4, 0], dtype)
    agree(topi.take(x, at, 0), {x: value, at: index}, np.take(value, index, 0, mode="clip"))


def test_gather_picks_one_element_for_each_index() -> None:
    x, at = te.placeholder((3, 4), name="x"), te.placeholder((3, 2), "int64", "at")
    value = RNG.random((3, 4), np.float32)
    index = RNG.integers(-4, 4, (3, 2))
    inputs: dict[te.Tensor, Any] = {x: value, at: index}
    agree(topi.gather(x, at, 1), inputs, np.take_along_axis(value, index % 4, 1))
    with pytest.raises(DTypeError, match="the indices 'x' must be integers, found f32"):
        topi.take(x, x)
