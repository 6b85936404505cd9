"""Functions inside a graph become kernels, whatever they contain, use or return."""

import numpy as np
import pytest

from irkit.core import IRKitError, IRModule, walk
from irkit.graph import GraphFunc, Invoke, arrays_of, interpret, parse
from irkit.ir import For
from irkit.passes.graph import lower_to_loops
from irkit.phases import GRAPH, compile

X = np.arange(-2, 2, dtype=np.float32)
SEES = """
def main(x: f32[4], y: f32[4]):
    @function()
    def f(p: f32[4]):
        a = add(p, y)
        return a
    b = f(x)
    return b
"""
HOLDS = """
def main(x: f32[4], y: f32[4]):
    @function()
    def f(p: f32[4], q: f32[4]):
        w: f32[4] = constant([1.0, -2.0, 3.0, 0.5])
        a = multiply(p, w)
        b = subtract(a, q)
        return b
    c = f(x, y)
    d = f(c, x)
    return d
"""
RETURNS_WHAT_IT_IS_GIVEN = """
def main(x: f32[4], y: f32[4]):
    @function()
    def f(p: f32[4], q: f32[4]):
        a = identity(q)
        return a
    b = f(x, y)
    return b
"""
RETURNS_TWICE = """
def main(x: f32[4], y: f32[4]):
    @function()
    def f(p: f32[4], q: f32[4]):
        a = add(p, q)
        t = (a, q, a)
        return t
    b = f(x, y)
    return b
"""
TAKES_OUT_OF_A_TUPLE_INSIDE = """
def main(x: f32[4], y: f32[4]):
    @function()
    def f(p: f32[4], q: f32[4]):
        t = (p, q)
        u = (p, t)
        v = u[1]
        a = v[1]
        b = subtract(a, p)
        return b
    c = f(x, y)
    return c
"""
TAKES_OUT_OF_TUPLES_AROUND_IT = """
def main(x: f32[4], y: f32[4]):
    t = (y, x)
    u = (x, t)
    @function()
    def f(p: f32[4]):
        v = u[1]
        a = v[0]
        b = subtract(a, p)
        return b
    c = f(x)
    d = f(c)
    return d
"""
RETURNS_A_TUPLE_IN_A_TUPLE = """
def main(x: f32[4], y: f32[4]):
    @function()
    def f(p: f32[4], q: f32[4]):
        t = (p, q)
        u = (p, t)
        return u
    c = f(x, y)
    return c
"""


def graph(text: str) -> GraphFunc:
    found = parse(text)
    assert isinstance(found, GraphFunc)
    return found


@pytest.mark.parametrize(
    "text",
    [
        SEES,
        HOLDS,
        RETURNS_WHAT_IT_IS_GIVEN,
        RETURNS_TWICE,
        TAKES_OUT_OF_A_TUPLE_INSIDE,
        TAKES_OUT_OF_TUPLES_AROUND_IT,
    ],
)
@pytest.mark.parametrize("pipeline", [GRAPH, GRAPH.without("simplify-graph")])
def test_functions_become_kernels_that_compute_the_same(text: str, pipeline: object) -> None:
    func = graph(text)
    expected = list(arrays_of(interpret(func, [X, X[::-1].copy()])))
    module = lower_to_loops(IRModule({"main": func}))
    main = module["main"]
    assert isinstance(main, GraphFunc)
    assert any(isinstance(bind.step, Invoke) for bind in main.body.bindings)
    found = list(arrays_of(interpret(module, [X, X[::-1].copy()])))
    model = compile(IRModule({"main": func}), graph_pipeline=pipeline)  # pyright: ignore[reportArgumentType]
    native = model.run({"x": X, "y": X[::-1].copy()})
    for want, one, other in zip(expected, found, native.values(), strict=True):
        np.testing.assert_array_equal(one, want)
        np.testing.assert_array_equal(other, want)


def test_a_function_that_returns_a_tuple_in_a_tuple_is_refused() -> None:
    with pytest.raises(IRKitError, match="tuple in a tuple"):
        lower_to_loops(IRModule({"main": graph(RETURNS_A_TUPLE_IN_A_TUPLE)}))


PREFIXES = """
def main(x: f32[4], count: i64[()]):
    one: i64[()] = constant([1])
    n: i64[()] = minimum(count, one)
    a: f32[rows] = prefix(x, n)
    b: f32[others] = prefix(x, n)
    results: (f32[rows], f32[others]) = (a, b)
    return results
"""


def test_two_prefixes_may_have_one_count() -> None:
    model = compile(IRModule({"main": parse(PREFIXES)}))
    found = model.run({"x": X, "count": np.array(7)})
    assert [each.tolist() for each in found.values()] == [[-2.0], [-2.0]]


def test_a_count_that_is_read_already_is_not_read_again() -> None:
    once = lower_to_loops(IRModule({"main": parse(PREFIXES)}))
    assert lower_to_loops(once) is once


SCATTERS = """
def main(x: f32[4], indices: i64[2, 1], rows: f32[2]):
    y: f32[4] = scatter(x, indices, rows, axis=0)
    return y
"""


def test_the_loops_of_a_scatter_come_from_its_line() -> None:
    module = lower_to_loops(IRModule({"main": parse(SCATTERS)}))
    loops = [loop for func in module.functions.values() for loop in walk(func, on=For)]
    assert len(loops) == 2
    assert all(loop.span is not None for loop in loops)
