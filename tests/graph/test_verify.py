"""The verifier finds planted mistakes, and the interpreter says what functions mean."""

from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError, ShapeError
from irkit.graph import (
    Bind,
    Body,
    Builder,
    GraphFunc,
    Op,
    Value,
    intermediates,
    interpret,
    parse,
    parse_module,
    tensor_type,
    verify,
)

TEXT = """\
def main(x: f32[4], c: bool[()]):
    a: f32[4] = exp(x)
    @function()
    def f(u: f32[4]):
        v: f32[4] = add(u, a)
        return v
    if c:
        y: f32[4] = a
    else:
        b: f32[4] = f(x)
        y: f32[4] = b
    z: f32[4] = relu(y)
    return z
"""


def test_a_good_function_has_no_problems() -> None:
    assert verify(parse(TEXT)) == []


WRONG = [
    ("a: f32[4] = exp(x)", "a: f32[5] = exp(x)", "value 'a' is declared f32[5], but its step"),
    ("exp(x)", "exp(x, speed=1)", "exp has no attribute 'speed'"),
    ("exp(x)", "exp(x, x)", "exp takes 1 arguments (x), found 2"),
    ("exp(x)", "logical_not(x)", "must be a bool or an integer, found f32"),
    ("exp(x)", 'op("warp", x)', "unknown operator 'warp'"),
    ("c: bool[()]", "c: bool[1]", "the condition c must be bool[]"),
    ("f(x)", "f(c)", "f: argument 0 (c) must be f32[4], found bool[]"),
    ("f(x)", "f(x, x)", "f takes 1 arguments, found 2"),
    ("relu(y)", "y[0]", "y is no tuple"),
    ("relu(y)", "a(y)", "a is applied but is no function"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_planted_mistakes_are_found(old: str, new: str, message: str) -> None:
    found = verify(parse(TEXT.replace(old, new, 1)))
    assert message in " ".join(problem.message for problem in found)


def with_bindings(func: GraphFunc, *bindings: Bind) -> GraphFunc:
    return func.replace(body=Body(tuple(bindings), bindings[-1].var))


def test_scopes_are_held() -> None:
    func = parse(TEXT)
    first, function, choice, last = func.body.bindings
    assert "'a' is used where it is not bound" in str(verify(with_bindings(func, function)))
    twice = with_bindings(func, first, first, function, choice, last)
    assert [problem.message for problem in verify(twice)] == ["value 'a' is bound twice"]
    # What is bound inside a body is not known outside it.
    inner: Any = function.step
    leak = Bind(Value("leak", last.var.type), Op("relu", (inner.body.result,)))
    message = "value 'v' is used where it is not bound"
    assert message in [p.message for p in verify(with_bindings(func, first, function, leak))]
    backwards = with_bindings(func, function, first, choice, last)
    assert verify(backwards) != []


MODULE = """\
def main(x: f32[4]):
    y: f32[4] = call("twice", x)
    return y

def twice(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        B[i] = A[i] + A[i]
"""
CALLS = [
    ('call("twice", x)', 'call("thrice", x)', "no function 'thrice' in the module"),
    ('call("twice", x)', 'call("twice", x, x)', "'twice' has 2 parameters, found 2 arguments"),
    ("A: f32[4]", "A: f32[5]", "parameter 0 is f32[5], found f32[4]"),
    ("B: f32[4]", "B: f64[4]", "parameter 1 is f64[4], found f32[4]"),
]


@pytest.mark.parametrize(("old", "new", "message"), CALLS)
def test_calls_are_held_against_the_module(old: str, new: str, message: str) -> None:
    assert verify(parse_module(MODULE)) == []
    assert message in str(verify(parse_module(MODULE.replace(old, new)))[0])


def test_a_function_runs_both_branches_and_its_lambdas() -> None:
    func, x = parse(TEXT), np.arange(4, dtype="float32")
    np.testing.assert_allclose(np.asarray(interpret(func, [x, np.array(True)])), np.exp(x))
    np.testing.assert_allclose(np.asarray(interpret(func, [x, np.array(False)])), np.exp(x) + x)


def test_a_lambda_remembers_the_values_around_it() -> None:
    func = parse("""\
def main(x: f32[2], y: f32[2]):
    @function()
    def outer(a: f32[2]):
        @function()
        def inner(b: f32[2]):
            d = subtract(a, b)
            return d
        return inner
    f = outer(x)
    g = outer(y)
    u = f(y)
    v = g(x)
    r = (u, v)
    return r
""")
    x, y = np.array([1, 2], "f"), np.array([5, 9], "f")
    first, second = interpret(func, [x, y])  # pyright: ignore
    np.testing.assert_array_equal(np.asarray(first), x - y)
    np.testing.assert_array_equal(np.asarray(second), y - x)


def test_inner_values_can_be_asked_for() -> None:
    func, x = parse(TEXT), np.arange(4, dtype="float32")
    found = intermediates(func, {"x": x, "c": np.array(True)}, ["a", "x"])
    np.testing.assert_allclose(np.asarray(found["a"]), np.exp(x))
    with pytest.raises(IRKitError, match="no value named 'b' was computed"):
        intermediates(func, {"x": x, "c": np.array(True)}, ["b"])


def test_precision_widens_inputs_constants_and_results() -> None:
    func = parse("""\
def main(x: f32[1]):
    k: f32[1] = constant([0.1])
    y = add(x, k)
    return y
""")
    result = np.asarray(interpret(func, [np.array([1e-9], "float32")], precision="f64"))
    assert result.dtype == np.float64
    assert result[0] != np.float64(np.float32(0.1))


def test_a_module_runs_its_loop_functions() -> None:
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(np.asarray(interpret(parse_module(MODULE), [x])), 2 * x)


def test_symbolic_results_of_loop_functions_get_their_room() -> None:
    module = parse_module(MODULE.replace("4", "n").replace("x: f32[n]", "x: f32[n]"))
    x = np.arange(7, dtype="float32")
    np.testing.assert_array_equal(np.asarray(interpret(module, [x])), 2 * x)


INPUTS = [
    ([np.ones(4, "f")], "takes 2 inputs, found 1"),
    ({"x": np.ones(4, "f"), "d": np.array(True)}, "missing: c, not known: d"),
    ([np.ones(5, "f"), np.array(True)], r"input 'x' must be f32\[4\], found shape \[5\]"),
]


@pytest.mark.parametrize(("inputs", "message"), INPUTS)
def test_inputs_that_do_not_fit_are_errors(inputs: Any, message: str) -> None:
    with pytest.raises((IRKitError, ShapeError), match=message):
        interpret(parse(TEXT), inputs)


def test_a_dimension_has_one_size() -> None:
    func = parse("def main(x: f32[n], y: f32[n]):\n    z = add(x, y)\n    return z\n")
    with pytest.raises(ShapeError, match=r"input 'y' must be f32\[n\], found shape \[1\]"):
        interpret(func, [np.ones(3, "f"), np.ones(1, "f")])


def test_endless_calls_are_stopped() -> None:
    text = 'def main(x: f32[4]):\n    y: f32[4] = call("main", x)\n    return y\n'
    with pytest.raises(IRKitError, match="nested more than 1000 deep"):
        interpret(parse_module(text), [np.ones(4, "f")])


def test_ten_thousand_nested_lets_are_verified_and_run() -> None:
    b = Builder()
    x = b.param("x", (2,))
    inner = b.inner()
    body = inner.body(inner.op("negative", x))
    for _ in range(10_000):
        outer = b.inner()
        body = outer.body(outer.emit(body, "y"))
    func = b.finish(b.emit(body, "z"))
    assert verify(func) == []
    result = np.asarray(interpret(func, [np.array([1.0, 2.0], "float32")]))
    np.testing.assert_array_equal(result, [-1.0, -2.0])


def test_errors_while_building_carry_the_place() -> None:
    b = Builder()
    x = b.param("x", (2, 3))
    with pytest.raises(ShapeError, match="matmul: argument b"):
        b.op("matmul", x, x)
    assert tensor_type((2, 3)) == x.type
