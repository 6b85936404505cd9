"""Operators element by element and with broadcasting, against NumPy and as loops."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from irkit import te, topi
from irkit.core import DTypeError, ShapeError
from tests.te.agree import agree

RNG = np.random.default_rng(3)
UNARY = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "sqrt": lambda x: np.sqrt(np.abs(x)),
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.round,
    "abs": np.abs,
    "sign": np.sign,
    "isnan": np.isnan,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "erf": np.vectorize(math.erf, otypes=[np.float32]),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "negative": np.negative,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x < 0, x * np.float32(0.01), x),
}
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


@pytest.mark.parametrize("name", UNARY)
def test_an_operator_of_one_tensor_agrees_with_numpy(name: str) -> None:
    x = te.placeholder((3, 4), name="x")
    value = RNG.normal(size=(3, 4)).astype(np.float32)
    expected = UNARY[name](value)
    agree(getattr(topi, name)(topi.abs(x) if name == "sqrt" else x), {x: value}, expected)


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p", "acosh"])
def test_logarithms_of_positive_numbers_agree_with_numpy(name: str) -> None:
    x = te.placeholder((5,), name="x")
    value = RNG.uniform(1.1, 9, 5).astype(np.float32)
    agree(getattr(topi, name)(x), {x: value}, getattr(np, name.replace("acosh", "arccosh"))(value))
    agree(topi.rsqrt(x), {x: value}, 1 / np.sqrt(value))


@pytest.mark.parametrize("name", ["asin", "acos", "atanh"])
def test_inverse_functions_within_one_agree_with_numpy(name: str) -> None:
    x = te.placeholder((5,), name="x")
    value = RNG.uniform(-0.9, 0.9, 5).astype(np.float32)
    agree(getattr(topi, name)(x), {x: value}, getattr(np, name.replace("a", "arc", 1))(value))


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "uint8", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_an_operator_of_two_tensors_agrees_with_numpy(name: str, dtype: str) -> None:
    a, b = te.placeholder((3, 4), dtype, "a"), te.placeholder((4,), dtype, "b")
    x = RNG.integers(0, 9, (3, 4)).astype(dtype)
    y = RNG.integers(1, 5, 4).astype(dtype)
    agree(getattr(topi, name)(a, b), {a: x, b: y}, BINARY[name](x, y))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3))
def test_shapes_broadcast_as_numpy_says(shapes: Any) -> None:
    left, right = shapes.input_shapes
    a, b = te.placeholder(left, name="a"), te.placeholder(right, name="b")
    x, y = RNG.random(left, np.float32), RNG.random(right, np.float32)
    agree(topi.add(a, b), {a: x, b: y}, np.add(x, y))


@settings(max_examples=25, deadline=None, derandomize=True)
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


def test_clip_takes_numbers_tensors_or_nothing() -> None:
    x, low = te.placeholder((6,), name="x"), te.placeholder((), name="low")
    value = np.array([-3, -1, 0, 1, 3, np.nan], np.float32)
    agree(topi.clip(x, -1, 2), {x: value}, np.clip(value, -1, 2))
    agree(topi.clip(x, high=2), {x: value}, np.minimum(value, 2))
    agree(topi.clip(x, low), {x: value, low: np.array(0, np.float32)}, np.maximum(value, 0))
    agree(topi.clip(x), {x: value}, value)


@pytest.mark.parametrize("to", ["int8", "uint8", "bool", "float64", "float16", "bfloat16"])
def test_casts_agree_with_numpy_within_range(to: str) -> None:
    import ml_dtypes

    x = te.placeholder((5,), name="x")
    value = np.array([0, 1.5, 2.25, 100, 7.9], np.float32)
    kind = ml_dtypes.bfloat16 if to == "bfloat16" else to
    agree(topi.cast(x, to), {x: value}, value.astype(kind))


def test_filling_and_adding_many() -> None:
    n = te.var("n")
    x = te.placeholder((n, 2), name="x")
    value = RNG.random((3, 2), np.float32)
    agree(topi.full_like(x, 2.5), {x: value}, np.full((3, 2), 2.5, np.float32))
    agree(topi.full((2, 2), 7, "int64"), {}, np.full((2, 2), 7))
    agree(topi.add_all(x, x, x, x), {x: value}, value * 4)


def test_broadcast_to_repeats_axes_of_extent_one() -> None:
    x = te.placeholder((2, 1), name="x")
    value = RNG.random((2, 1), np.float32)
    agree(topi.broadcast_to(x, (3, 2, 4)), {x: value}, np.broadcast_to(value, (3, 2, 4)))
    with pytest.raises(ShapeError, match=r"'x' of shape \[2, 1\] does not fill \[1, 1\]"):
        topi.broadcast_to(x, (1, 1))


def test_symbolic_extents_stay_symbolic() -> None:
    n = te.var("n")
    a, b = te.placeholder((n, 4), name="a"), te.placeholder((n, 1), name="b")
    x, y = RNG.random((3, 4), np.float32), RNG.random((3, 1), np.float32)
    agree(topi.relu(a * b), {a: x, b: y}, np.maximum(x * y, 0))


def test_types_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DTypeError, match="exp is not defined on i32"):
        topi.exp(te.placeholder((3,), "int32"))
