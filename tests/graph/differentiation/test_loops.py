"""Gradients through loops and prefixes, and those that are refused."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit import ir
from irkit.codegen import Repeat
from irkit.core import IRKitError, IRModule
from irkit.graph import arrays_of, gradient, interpret, parse
from tests.graph.differentiation.finite_differences import assert_gradients

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


NESTED = """
def inner(i: i64[()], a: f32[4], w: f32[4]):
    s: f32[4] = multiply(a, w)
    t: f32[4] = sin(s)
    g: bool[()] = constant([True])
    r: (bool[()], f32[4]) = (g, t)
    return r
"""
AROUND = """
def step(i: i64[()], a: f32[4], total: f32[()], w: f32[4]):
    n: i64[()] = constant([3])
    c: bool[()] = constant([True])
    y: (i64[()], f32[4]) = loop("inner", n, c, (a,), (w,))
    s: f32[4] = y[1]
    t: f32[()] = sum(s, axes=(0,), keepdims=False)
    u: f32[()] = add(total, t)
    r: (bool[()], f32[4], f32[()], f32[4], f32[()]) = (c, s, u, a, u)
    return r
"""


def assert_like_finite_differences(module: IRModule, *rest: Any) -> None:
    def value(arrays: list[Any]) -> float:
        return float(next(arrays_of(interpret(module, [*arrays, *rest], precision="f64"))))

    found = gradient(module, wrt=["x", "w"])
    results = list(arrays_of(interpret(found, [X, W, *rest], precision="f64")))
    assert_gradients(value, [X, W], dict(enumerate(results[-2:])))


@pytest.mark.parametrize("limit", ["1000.0", "30.0", "-1.0"])
def test_gradients_of_a_loop_agree_with_finite_differences(limit: str) -> None:
    functions = {"main": parse(MAIN), "step": parse(STEP.replace("LIMIT", limit))}
    assert_like_finite_differences(IRModule(functions))


@pytest.mark.parametrize("count", [0, 4, 9])
def test_a_number_of_iterations_that_is_an_input_is_bounded_by_the_rows(count: int) -> None:
    text = MAIN.replace("w: f32[4]):", "w: f32[4], n: i64[()]):")
    text = text.replace("    n: i64[()] = constant([5])\n", "")
    module = IRModule({"main": parse(text), "step": parse(STEP.replace("LIMIT", "1000.0"))})
    assert_like_finite_differences(module, np.array(count))


def test_gradients_of_loops_inside_each_other() -> None:
    functions = {"main": parse(MAIN), "step": parse(AROUND), "inner": parse(NESTED)}
    assert_like_finite_differences(IRModule(functions))


def test_the_gradient_of_a_loop_runs_natively_and_is_one_loop() -> None:
    module = IRModule({"main": parse(MAIN), "step": parse(STEP.replace("LIMIT", "30.0"))})
    found = gradient(module, wrt=["x", "w"])
    expected = list(arrays_of(interpret(found, [X.astype("f4"), W.astype("f4")])))
    compiled = irkit.compile(found, schedule="none")
    assert sum(isinstance(region, Repeat) for region in compiled.plan.regions) == 2
    arrays = {"x": X.astype("f4"), "w": W.astype("f4")}
    for have, want in zip(compiled.run(arrays).values(), expected, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-5)


def test_a_loop_of_any_number_of_iterations_is_refused_by_name() -> None:
    text = """
def main(x: f32[4], w: f32[4], n: i64[()]):
    c: bool[()] = constant([True])
    y: (i64[()], f32[4]) = loop("inner", n, c, (x,), (w,))
    t: f32[4] = y[1]
    q: f32[()] = sum(t, axes=(0,), keepdims=False)
    return q
"""
    module = IRModule({"main": parse(text), "inner": parse(NESTED)})
    with pytest.raises(IRKitError, match="loop 'y': how many iterations it makes at most is only"):
        gradient(module, wrt=["x"])


SCANNED = """
def step(i: i64[()], h: f32[4], rows: f32[9, 4], same: f32[9, 4]):
    a: f32[4] = take(rows, i, axis=0)
    j: i64[()] = constant([-2])
    b: f32[4] = take(same, j, axis=0)
    c: f32[4] = multiply(h, a)
    d: f32[4] = add(c, b)
    t: f32[4] = tanh(d)
    g: bool[()] = constant([True])
    r: (bool[()], f32[4], f32[4]) = (g, t, d)
    return r
"""
SCAN = """
def main(x: f32[9, 4], w: f32[4]):
    n: i64[()] = constant([9])
    c: bool[()] = constant([True])
    y: (i64[()], f32[4], f32[9, 4]) = loop("step", n, c, (w,), (x, x))
    t: f32[9, 4] = y[2]
    q: f32[()] = sum(t, axes=(0, 1), keepdims=False)
    return q
"""


def test_the_gradient_of_rows_is_added_in_place() -> None:
    module = IRModule({"main": parse(SCAN), "step": parse(SCANNED)})
    x = np.random.default_rng(0).standard_normal((9, 4))

    def value(arrays: list[Any]) -> float:
        return float(next(arrays_of(interpret(module, arrays, precision="f64"))))

    found = gradient(module, wrt=["x", "w"])
    results = list(arrays_of(interpret(found, [x, W], precision="f64")))
    assert_gradients(value, [x, W], dict(enumerate(results)))
    compiled = irkit.compile(found, schedule="none")
    arrays = {"x": x.astype("f4"), "w": W.astype("f4")}
    for have, want in zip(compiled.run(arrays).values(), results, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
    # What an iteration carries over is the state, and no sum as large as the rows.
    back = [region for region in compiled.plan.regions if isinstance(region, Repeat)][-1]
    assert all(copy.size < arrays["x"].nbytes for copy in back.carry)  # pyright: ignore -- all are numbers


MADE = """
def main(x: f32[n, 4], w: f32[4]):
    shape: i64[2] = call("shape", x)
    zero: i64[()] = constant([0])
    m: i64[()] = take(shape, zero, axis=0)
    one: i64[()] = constant([1])
    k: i64[()] = add(m, one)
    s: f32[4] = sum(x, axes=(0,), keepdims=False)
    c: bool[()] = constant([True])
    y: (i64[()], f32[4]) = loop("inner", k, c, (s,), (w,))
    t: f32[4] = y[1]
    q: f32[()] = sum(t, axes=(0,), keepdims=False)
    return q
"""
SHAPE = """
def shape(p0: f32[n, 4], shape: i64[2]):
    for ax0 in serial(0, 2):
        with block("shape"):
            v = axis.spatial(2, ax0)
            shape[v] = select(v == 0, n, 4)
"""


@pytest.mark.parametrize("rows", [1, 3])
def test_a_number_of_iterations_that_dimensions_decide_is_known(rows: int) -> None:
    functions = {"main": parse(MADE), "inner": parse(NESTED), "shape": ir.parse(SHAPE)}
    module = IRModule(functions)
    x = np.random.default_rng(rows).standard_normal((rows, 4))

    def value(arrays: list[Any]) -> float:
        return float(next(arrays_of(interpret(module, arrays, precision="f64"))))

    found = gradient(module, wrt=["x", "w"])
    results = list(arrays_of(interpret(found, [x, W], precision="f64")))
    assert_gradients(value, [x, W], dict(enumerate(results)))


def test_a_loop_over_itself_is_refused_by_name() -> None:
    own = AROUND.replace('"inner"', '"step"')
    own = own.replace(
        'y: (i64[()], f32[4]) = loop("step", n, c, (a,), (w,))',
        ('y: (i64[()], f32[4], f32[()], f32[3, 4], f32[3]) = loop("step", n, c, (a, total), (w,))'),
    )
    module = IRModule({"main": parse(MAIN), "step": parse(own)})
    with pytest.raises(IRKitError, match="recursive function: 'step' loops over 'step'"):
        gradient(module, wrt=["x"])


PREFIX = """\
def main(x: f32[m, 4], n: i64[()]):
    y: f32[k, 4] = prefix(x, n)
    z: f32[k, 4] = multiply(y, y)
    s: f32[()] = sum(z, axes=(0, 1), keepdims=False)
    return s
"""


@pytest.mark.parametrize("count", [0, 2, 3])
def test_rows_whose_number_only_the_run_knows_have_gradients(count: int) -> None:
    found = gradient(IRModule({"main": parse(PREFIX)}), wrt=["x"])
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    (have,) = arrays_of(interpret(found, [x, np.array(count)]))
    np.testing.assert_array_equal(have, np.where(np.arange(3)[:, None] < count, 2 * x, 0))


def test_in_a_function_alone_they_are_refused_by_name() -> None:
    with pytest.raises(IRKitError, match="cannot differentiate 'y', whose number of rows is only"):
        gradient(parse(PREFIX), wrt=["x"])
