"""Calls of function values and of graph functions become what they do."""

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, walk
from irkit.graph import Apply, GraphFunc, Invoke, Lambda, arrays_of, interpret, parse_module, verify
from irkit.passes.graph import inline_functions
from tests.passes.graph.programs import CALLS

X = np.array([-1.0, 2.0, 0.5, 3.0], np.float32)


@pytest.mark.parametrize("c", [False, True])
def test_functions_that_a_condition_chooses_compute_the_same(c: bool) -> None:
    before = parse_module(CALLS)
    after = inline_functions(before)
    assert list(after.functions) == ["main"]
    main = after["main"]
    assert isinstance(main, GraphFunc)
    assert verify(main) == []
    assert not any(list(walk(main, each)) for each in (Apply, Lambda, Invoke))
    inputs = {"x": X, "c": np.array(c)}
    (expected,) = arrays_of(interpret(before, inputs))
    (found,) = arrays_of(interpret(after, inputs))
    np.testing.assert_array_equal(found, expected)
    assert inline_functions(after) is after


def test_state_that_a_function_returns_as_it_was_is_copied_before_it_is_written_over() -> None:
    before = parse_module("""\
@attrs(state=((0, 0),))
def main(x: f32[4]):
    @function()
    def f(p: f32[4]):
        s: f32[4] = exp(p)
        pair: (f32[4], f32[4]) = (s, p)
        return pair
    result: (f32[4], f32[4]) = f(x)
    r: f32[4] = result[0]
    old: f32[4] = result[1]
    both: (f32[4], f32[4]) = (r, old)
    return both
""")
    after = inline_functions(before)
    main = after["main"]
    assert isinstance(main, GraphFunc)
    assert verify(main) == []
    x = X.copy()
    new, old = irkit.compile(before).run({"x": x}).values()
    np.testing.assert_allclose(new, np.exp(X), rtol=1e-6)
    np.testing.assert_array_equal(old, X)
    np.testing.assert_array_equal(x, new)


def test_fused_groups_and_kernels_stay() -> None:
    module = parse_module("""\
def main(x: f32[4]):
    @function(fused=True)
    def group(a: f32[4]):
        b: f32[4] = exp(a)
        return b
    y: f32[4] = group(x)
    z: f32[4] = call("double", y)
    return z

def double(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        B[i] = A[i] + A[i]
""")
    assert inline_functions(module) is module


def test_a_function_that_a_loop_calls_stays() -> None:
    module = parse_module("""\
def main(x: f32[4], n: i64[()], c: bool[()]):
    y: (i64[()], f32[4]) = loop("step", n, c, (x,), ())
    z: f32[4] = y[1]
    return z

def step(i: i64[()], a: f32[4]):
    go: bool[()] = constant([True])
    b: f32[4] = call("twice", a)
    r: (bool[()], f32[4]) = (go, b)
    return r

def twice(a: f32[4]):
    b: f32[4] = add(a, a)
    return b
""")
    after = inline_functions(module)
    assert list(after.functions) == ["main", "step"]
    inputs = {"x": X, "n": np.array(3), "c": np.array(True)}
    (found,) = arrays_of(interpret(after, inputs))
    np.testing.assert_array_equal(found, 8 * X)


def test_a_function_that_a_loop_and_a_call_share_stays() -> None:
    module = parse_module("""\
def main(x: f32[4], n: i64[()], c: bool[()]):
    y: (i64[()], f32[4]) = loop("step", n, c, (x,), ())
    z: f32[4] = y[1]
    s: (bool[()], f32[4]) = call("step", n, z)
    t: f32[4] = s[1]
    return t

def step(i: i64[()], a: f32[4]):
    go: bool[()] = constant([True])
    b: f32[4] = add(a, a)
    r: (bool[()], f32[4]) = (go, b)
    return r
""")
    after = inline_functions(module)
    assert list(after.functions) == ["main", "step"]
    inputs = {"x": X, "n": np.array(3), "c": np.array(True)}
    (found,) = arrays_of(interpret(after, inputs))
    np.testing.assert_array_equal(found, 16 * X)


def test_recursion_is_refused_with_the_functions_that_call_each_other() -> None:
    module = parse_module("""\
def main(x: f32[4]):
    y: f32[4] = call("one", x)
    return y

def one(x: f32[4]):
    y: f32[4] = call("two", x)
    return y

def two(x: f32[4]):
    y: f32[4] = call("one", x)
    return y
""")
    with pytest.raises(
        IRKitError, match=r"cannot inline a recursive function: .*'one' calls 'two'"
    ):
        inline_functions(module)
