"""Operators element by element, against NumPy and as loops."""

import math

import numpy as np
import pytest

from irkit import te, topi
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
