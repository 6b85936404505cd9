"""Slices whose bounds a model computes from shapes, beside NumPy's."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from onnx import TensorProto, helper
from onnx.helper import make_node, make_tensor_value_info as info
from onnx.numpy_helper import from_array

from irkit.core import IRKitError
from irkit.frontend.onnx import import_onnx
from irkit.frontend.sizes import sliced
from irkit.graph import arrays_of, interpret
from irkit.ir import Expr, Interval, Var, evaluate

N, M = Var("n"), Var("m")
SIZES = st.integers(0, 6)
BOUNDS = st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-7, 7))
"""A bound: a multiple of n, one of m, and a number."""


def bound(terms: tuple[int, int, int], n: Any, m: Any) -> Any:
    return n * terms[0] + m * terms[1] + terms[2]


def number(size: Any, n: int, m: int) -> int:
    return int(evaluate(size, {N: n, M: m})) if isinstance(size, Expr) else int(size)


@given(BOUNDS, BOUNDS, st.sampled_from([-3, -2, -1, 1, 2, 3]), SIZES, SIZES)
def test_a_slice_takes_what_python_takes(
    begin: tuple[int, int, int], end: tuple[int, int, int], step: int, n: int, m: int
) -> None:
    ranges = {N: Interval(0, 6), M: Interval(0, 6)}
    window = sliced(bound(begin, N, M), bound(end, N, M), step, N, ranges)
    taken = range(n)[bound(begin, n, m) : bound(end, n, m) : step]
    assert number(window.count, n, m) == len(taken)
    if len(taken):
        assert number(window.begin, n, m) == taken[0]


def model(ends_at: int, step: int) -> Any:
    """Return a slice of x [n, 3], from the rows of y [m] to a number, by steps."""
    nodes = [
        make_node("Shape", ["y"], ["m"]),
        make_node("Slice", ["x", "m", "end", "axes", "step"], ["z"]),
    ]
    made = {"end": [ends_at], "axes": [0], "step": [step]}
    graph = helper.make_graph(
        nodes,
        "sliced",
        [info("x", TensorProto.FLOAT, ["n", 3]), info("y", TensorProto.FLOAT, ["m"])],
        [info("z", TensorProto.FLOAT, None)],
        [from_array(np.array(a, np.int64), name) for name, a in made.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


@pytest.mark.parametrize("step", [1, 2, -1, -3])
@pytest.mark.parametrize("end", [2**63 - 1, -1, 4, -(2**63)])
def test_a_slice_by_computed_bounds_is_one_graph(step: int, end: int) -> None:
    module = import_onnx(model(end, step))
    for n, m in ((5, 2), (1, 4), (7, 7), (4, 0), (0, 3)):
        x = np.arange(n * 3, dtype="f4").reshape(n, 3)
        (found,) = arrays_of(interpret(module, [x, np.zeros(m, "f4")]))
        np.testing.assert_array_equal(found, x[m:end:step])


def test_a_step_of_0_is_refused() -> None:
    with pytest.raises(IRKitError, match="one of its steps is 0"):
        import_onnx(model(4, 0))


def splitting(nodes: list[Any], count: int) -> Any:
    graph = helper.make_graph(
        nodes,
        "parts",
        [info("x", TensorProto.FLOAT, ["n", 2]), info("y", TensorProto.FLOAT, ["m", 2])],
        [info(f"z{at}", TensorProto.FLOAT, None) for at in range(count)],
        [from_array(np.array([1]), "one")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


@pytest.mark.parametrize(("n", "m"), [(3, 2), (7, 1), (1, 5), (0, 2)])
def test_a_split_of_an_open_axis_is_one_graph(n: int, m: int) -> None:
    x, y = (np.random.default_rng(k).standard_normal((k, 2)).astype("f4") for k in (n, m))
    even = splitting([make_node("Split", ["x"], ["z0", "z1", "z2"], num_outputs=3)], 3)
    part = -(-n // 3)
    found = arrays_of(interpret(import_onnx(even), [x, y]))
    for at, each in enumerate(found):
        np.testing.assert_array_equal(each, x[part * at : part * (at + 1)])
    computed = [
        make_node("Concat", ["x", "y"], ["joined"], axis=0),
        *(make_node("Shape", [name], [f"{name}_rows"], start=0, end=1) for name in ("x", "y")),
        make_node("Concat", ["x_rows", "y_rows"], ["sizes"], axis=0),
        make_node("Split", ["joined", "sizes"], ["z0", "z1"]),
    ]
    one, other = arrays_of(interpret(import_onnx(splitting(computed, 2)), [x, y]))
    np.testing.assert_array_equal(one, x)
    np.testing.assert_array_equal(other, y)


def test_parts_that_may_not_fill_an_axis_are_refused() -> None:
    nodes = [
        make_node("Shape", ["y"], ["rows"], start=0, end=1),
        make_node("Concat", ["rows", "one"], ["sizes"], axis=0),
        make_node("Split", ["x", "sizes"], ["z0", "z1"]),
    ]
    with pytest.raises(IRKitError, match="not known to fill the axis"):
        import_onnx(splitting(nodes, 2))
