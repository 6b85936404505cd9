"""Softmax, against plain NumPy and as loops."""

import numpy as np
import pytest

from irkit import te, topi
from tests.te.agree import agree

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_softmax_agrees_with_its_definition(axis: int, dtype: str) -> None:
    x = te.placeholder((2, 3, 4), dtype, "x")
    value = RNG.normal(scale=80, size=(2, 3, 4)).astype(dtype)
    wide = value.astype(np.float64)
    exps = np.exp(wide - wide.max(axis, keepdims=True))
    right = exps / exps.sum(axis, keepdims=True)
    logs = (wide - wide.max(axis, keepdims=True)) - np.log(exps.sum(axis, keepdims=True))
    made = [topi.softmax(x, axis), topi.log_softmax(x, axis)]
    rtol = 2e-3 if dtype == "float16" else 1e-5
    agree(made, {x: value}, right.astype(dtype), logs.astype(dtype), rtol=rtol)
