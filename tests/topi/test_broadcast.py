"""Operators with broadcasting, against NumPy and as loops."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from irkit import te, topi
from irkit.core import DTypeError, ShapeError
from tests.draws import few_or_all
from tests.te.agree import agree

RNG = np.random.default_rng(3)

BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": np.floor_divide,
    "mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "uint8", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_an_operator_of_two_tensors_agrees_with_numpy(name: str, dtype: str) -> None:
    a, b = te.placeholder((3, 4), dtype, "a"), te.placeholder((4,), dtype, "b")
    x = RNG.integers(0, 9, (3, 4)).astype(dtype)
    y = RNG.integers(1, 5, 4).astype(dtype)
    agree(getattr(topi, name)(a, b), {a: x, b: y}, BINARY[name](x, y))


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3))
def test_shapes_broadcast_as_numpy_says(shapes: Any) -> None:
    left, right = shapes.input_shapes
    a, b = te.placeholder(left, name="a"), te.placeholder(right, name="b")
    x, y = RNG.random(left, np.float32), RNG.random(right, np.float32)
    agree(topi.add(a, b), {a: x, b: y}, np.add(x, y))


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
@given(st.sampled_from(["int8", "uint8", "int32", "int64"]), st.integers(0, 99))
def test_integers_divide_towards_zero_and_wrap(dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 6, dtype, endpoint=True)
    y = rng.choice(np.array([1, 2, 3, 7, info.min, info.max], dtype), 6)
    a, b = te.placeholder((6,), dtype, "a"), te.placeholder((6,), dtype, "b")
    exact = [
        int(math.copysign(1, int(p) * int(q))) * (abs(int(p)) // abs(int(q))) if q else 0
        for p, q in zip(x, y, strict=True)
    ]
    with np.errstate(over="ignore"):
        wrapped = np.array(exact, dtype=object).astype(np.int64).astype(dtype)
        agree([topi.divide(a, b), topi.multiply(a, b)], {a: x, b: y}, wrapped, x * y)


def test_division_and_power_of_floats() -> None:
    a, b = te.placeholder((3, 4), name="a"), te.placeholder((3, 1), name="b")
    x, y = RNG.random((3, 4), np.float32), RNG.uniform(1, 3, (3, 1)).astype(np.float32)
    agree([topi.divide(a, b), topi.power(a, b), a / b], {a: x, b: y}, x / y, x**y, x / y)


def test_logic_on_bools() -> None:
    a, b = te.placeholder((4,), "bool", "a"), te.placeholder((4,), "bool", "b")
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    made = [topi.logical_and(a, b), topi.logical_or(a, b), topi.logical_not(a)]
    agree(made, {a: x, b: y}, x & y, x | y, ~x)


def test_where_chooses_with_broadcasting() -> None:
    c, a = te.placeholder((3, 1), "bool", "c"), te.placeholder((4,), "float64", "a")
    x, test = RNG.random(4), np.array([[1], [0], [1]], bool)
    agree(topi.where(c, a, 0.5), {c: test, a: x}, np.where(test, x, 0.5))


def test_broadcast_to_repeats_axes_of_extent_one() -> None:
    x = te.placeholder((2, 1), name="x")
    value = RNG.random((2, 1), np.float32)
    agree(topi.broadcast_to(x, (3, 2, 4)), {x: value}, np.broadcast_to(value, (3, 2, 4)))
    with pytest.raises(ShapeError, match=r"'x' of shape \[2, 1\] does not broadcast to \[1, 1\]"):
        topi.broadcast_to(x, (1, 1))


def test_symbolic_extents_stay_symbolic() -> None:
    n = te.var("n")
    a, b = te.placeholder((n, 4), name="a"), te.placeholder((n, 1), name="b")
    x, y = RNG.random((3, 4), np.float32), RNG.random((3, 1), np.float32)
    agree(topi.relu(a * b), {a: x, b: y}, np.maximum(x * y, 0))


def test_types_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DTypeError, match="exp is not defined on i32"):
        topi.exp(te.placeholder((3,), "int32"))
