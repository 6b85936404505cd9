"""The graph verifier: valid functions, and the sentence for each mistake."""

from typing import Any

import numpy as np
import pytest

from irkit.graph import (
    Bind,
    Body,
    Builder,
    GraphFunc,
    Op,
    Value,
    interpret,
    parse,
    parse_module,
    verify,
)
from tests.graph.texts import MODULE, TEXT


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
    ("relu(y)", "y[0]", "y is not a tuple"),
    ("relu(y)", "a(y)", "a is applied but is not a function"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_mistakes_are_reported(old: str, new: str, message: str) -> None:
    found = verify(parse(TEXT.replace(old, new, 1)))
    assert message in " ".join(problem.message for problem in found)


def with_bindings(func: GraphFunc, *bindings: Bind) -> GraphFunc:
    return func.replace(body=Body(tuple(bindings), bindings[-1].var))


def test_scopes_are_checked() -> None:
    func = parse(TEXT)
    first, function, choice, last = func.body.bindings
    assert "'a' is used where it is not bound" in str(verify(with_bindings(func, function)))
    twice = with_bindings(func, first, first, function, choice, last)
    assert [problem.message for problem in verify(twice)] == ["value 'a' is bound twice"]
    # Names bound inside a body are not visible outside.
    inner: Any = function.step
    leak = Bind(Value("leak", last.var.type), Op("relu", (inner.body.result,)))
    message = "value 'v' is used where it is not bound"
    assert message in [p.message for p in verify(with_bindings(func, first, function, leak))]
    backwards = with_bindings(func, function, first, choice, last)
    assert verify(backwards) != []


CALLS = [
    ('call("twice", x)', 'call("thrice", x)', "no function 'thrice' in the module"),
    ('call("twice", x)', 'call("twice", x, x)', "'twice' has 2 parameters, found 2 arguments"),
    ("A: f32[4]", "A: f32[5]", "parameter 0 is f32[5], found f32[4]"),
    ("B: f32[4]", "B: f64[4]", "parameter 1 is f64[4], found f32[4]"),
]


@pytest.mark.parametrize(("old", "new", "message"), CALLS)
def test_calls_are_checked_against_the_module(old: str, new: str, message: str) -> None:
    assert verify(parse_module(MODULE)) == []
    assert message in str(verify(parse_module(MODULE.replace(old, new)))[0])


def test_a_hundred_thousand_nested_lets_are_verified_and_run() -> None:
    b = Builder()
    x = b.param("x", (2,))
    inner = b.inner()
    body = inner.body(inner.op("negative", x))
    for _ in range(100_000):
        outer = b.inner()
        body = outer.body(outer.emit(body, "y"))
    func = b.finish(b.emit(body, "z"))
    assert verify(func) == []
    result = np.asarray(interpret(func, [np.array([1.0, 2.0], "float32")]))
    np.testing.assert_array_equal(result, [-1.0, -2.0])
