"""Sides of choices become functions, which compute what the sides did."""

import itertools

import numpy as np
import pytest

from irkit.core import IRModule
from irkit.graph import GraphFunc, arrays_of, interpret, parse_module, verify
from irkit.passes.graph import outline_branches
from tests.passes.graph.programs import NESTED

X = np.array([-1.0, 2.0, 0.5, 3.0], np.float32)


def functions(module: IRModule) -> dict[str, GraphFunc]:
    return {name: func for name, func in module.functions.items() if isinstance(func, GraphFunc)}


@pytest.mark.parametrize(("c", "d"), [*itertools.product([False, True], repeat=2)])
def test_sides_inside_sides_become_functions_too(c: bool, d: bool) -> None:
    before = parse_module(NESTED)
    after = outline_branches(before)
    assert verify(after) == []
    assert len(functions(after)) == 5
    inputs = {"x": X, "c": np.array(c), "d": np.array(d)}
    (expected,) = arrays_of(interpret(before, inputs))
    (found,) = arrays_of(interpret(after, inputs))
    np.testing.assert_array_equal(found, expected)
    assert outline_branches(after) is after


def test_a_small_constant_is_repeated_and_a_large_one_an_argument() -> None:
    after = functions(outline_branches(parse_module(NESTED)))
    assert [param.name for param in after["r_then"].params] == ["x", "d", "w"]
    assert "constant([2.0])" in after["r_then"].script()
    assert [param.name for param in after["r_else"].params] == ["w"]


def test_what_a_function_in_a_loop_returns_as_it_came_is_copied() -> None:
    before = parse_module("""\
def main(x: f32[4], n: i64[()], c: bool[()]):
    y: (i64[()], f32[4], f32[4]) = loop("step", n, c, (x, x), ())
    z: f32[4] = y[1]
    return z

def step(i: i64[()], a: f32[4], b: f32[4]):
    go: bool[()] = constant([True])
    s: f32[4] = add(a, b)
    r: (bool[()], f32[4], f32[4]) = (go, b, s)
    return r
""")
    after = outline_branches(before)
    assert verify(after) == []
    text = after["step"].script()
    assert "identity(b)" in text
    assert "identity(s)" not in text
    inputs = {"x": X, "n": np.array(4), "c": np.array(True)}
    (found,) = arrays_of(interpret(after, inputs))
    np.testing.assert_array_equal(found, 5 * X)
    assert outline_branches(after) is after


def test_functions_without_choices_stay() -> None:
    module = parse_module("def main(x: f32[4]):\n    y: f32[4] = exp(x)\n    return y\n")
    assert outline_branches(module) is module
