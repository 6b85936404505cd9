"""Gradients through loops of a known number of iterations, and those that are refused."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from irkit.core import IRKitError, IRModule
from irkit.graph import arrays_of, gradient, interpret, parse

STEP = """
def step(i: i64[()], a: f32[4], total: f32[()], w: f32[4]):
    s: f32[4] = multiply(a, w)
    t: f32[()] = sum(s, axes=(0,), keepdims=False)
    u: f32[()] = add(total, t)
    l: f32[()] = constant([LIMIT])
    g: bool[()] = less(u, l)
    r: (bool[()], f32[4], f32[()], f32[4], f32[()]) = (g, s, u, a, u)
    return r
"""
MAIN = """
def main(x: f32[4], w: f32[4]):
    n: i64[()] = constant([5])
    c: bool[()] = constant([True])
    z: f32[()] = constant([0.0])
    y: (i64[()], f32[4], f32[()], f32[6, 4], f32[6]) = loop("step", n, c, (x, z), (w,))
    t: f32[6, 4] = y[3]
    q: f32[()] = sum(t, axes=(0, 1), keepdims=False)
    u: f32[()] = y[2]
    v: f32[()] = add(q, u)
    return v
"""
X, W = np.array([1.0, 2.0, 0.5, 3.0]), np.array([1.5, 2.0, 1.0, 0.5])


@pytest.mark.parametrize("limit", ["1000.0", "30.0", "-1.0"])
def test_gradients_of_a_loop_agree_with_finite_differences(limit: str) -> None:
    module = IRModule({"main": parse(MAIN), "step": parse(STEP.replace("LIMIT", limit))})

    def value(x: NDArray[Any], w: NDArray[Any]) -> float:
        return float(next(arrays_of(interpret(module, [x, w], precision="f64"))))

    found = gradient(module, wrt=["x", "w"])
    results = list(arrays_of(interpret(found, [X, W], precision="f64")))
    step = 1e-6
    for at in range(4):
        d = np.zeros(4)
        d[at] = step
        by_x = (value(X + d, W) - value(X - d, W)) / (2 * step)
        by_w = (value(X, W + d) - value(X, W - d)) / (2 * step)
        np.testing.assert_allclose([results[-2][at], results[-1][at]], [by_x, by_w], rtol=1e-5)


def test_a_loop_that_ends_when_it_runs_is_refused_by_name() -> None:
    text = MAIN.replace("w: f32[4]):", "w: f32[4], n: i64[()]):")
    text = text.replace("    n: i64[()] = constant([5])\n", "")
    module = IRModule({"main": parse(text), "step": parse(STEP.replace("LIMIT", "9.0"))})
    with pytest.raises(IRKitError, match="loop 'y' cannot be unrolled: the number of its iter"):
        gradient(module, wrt=["x"])


def test_rows_whose_number_only_the_run_knows_are_refused_by_name() -> None:
    text = """\
def main(x: f32[4], n: i64[()]):
    y: f32[k] = prefix(x, n)
    s: f32[()] = sum(y, axes=(0,), keepdims=False)
    return s
"""
    with pytest.raises(IRKitError, match="cannot differentiate 'y': its number of rows is only"):
        gradient(IRModule({"main": parse(text)}), wrt=["x"])
