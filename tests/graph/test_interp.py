"""The graph interpreter: what functions compute, and errors of their inputs."""

from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError, ShapeError
from irkit.graph import intermediates, interpret, parse, parse_module
from tests.graph.texts import MODULE, TEXT


def test_a_function_runs_both_branches_and_its_lambdas() -> None:
    func, x = parse(TEXT), np.arange(4, dtype="float32")
    power = np.exp(x.astype("float64")).astype("float32")
    np.testing.assert_array_equal(np.asarray(interpret(func, [x, np.array(True)])), power)
    np.testing.assert_array_equal(np.asarray(interpret(func, [x, np.array(False)])), power + x)


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


def test_intermediate_values_can_be_requested() -> None:
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


def test_a_loop_function_gets_arrays_without_gaps() -> None:
    x = np.arange(8, dtype="f")[::2]
    np.testing.assert_array_equal(np.asarray(interpret(parse_module(MODULE), [x])), 2 * x)


def test_symbolic_results_of_loop_functions_are_allocated() -> None:
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
