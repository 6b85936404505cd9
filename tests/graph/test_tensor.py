"""Graphs written as expressions."""

import numpy as np
import pytest

from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.graph import (
    Binding,
    Builder,
    GraphFunc,
    TensorExpr,
    constant,
    graph_input,
    interpret,
    operator,
    operator_results,
    tensor_type,
    verify,
)
from irkit.ir import Var


def bound(result: TensorExpr, **inputs: TensorExpr) -> GraphFunc:
    b = Builder()
    scope = {tensor: b.param(name, tensor.type) for name, tensor in inputs.items()}
    func = b.finish(Binding(b, scope).value(result))
    assert verify(func) == []
    return func


def inputs(*shape: int) -> tuple[TensorExpr, np.ndarray]:
    x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape) / 8 + 0.5
    return graph_input("x", tensor_type(shape, "f64")), x


def test_arithmetic_is_as_in_numpy() -> None:
    x, array = inputs(3, 4)
    found = bound(2 - x * 3 / (x + 1) ** 2 @ np.ones((4, 2)) + (-x).sum(1, keepdims=True), x=x)
    want = 2 - array * 3 / (array + 1) ** 2 @ np.ones((4, 2)) + (-array).sum(1, keepdims=True)
    np.testing.assert_allclose(interpret(found, [array]), want)


@pytest.mark.parametrize(
    "index",
    [0, -1, (slice(None), 2), (slice(1, None, 2), slice(None, None, -1)), (slice(2, 0, -1), 0),
     (slice(5, 1),), (-2, slice(-3, -1))],
)  # fmt: skip
def test_indices_are_as_in_numpy(index: int) -> None:
    x, array = inputs(3, 4)
    np.testing.assert_array_equal(interpret(bound(x[index], x=x), [array]), array[index])


def test_an_expression_that_is_used_twice_is_bound_once() -> None:
    x, _ = inputs(2, 2)
    once = operator("exp", x)
    func = bound(once + once * once, x=x)
    assert func.script().count("exp(") == 1


def test_what_no_result_needs_is_not_bound() -> None:
    x, _ = inputs(2, 2)
    operator("exp", x)
    assert "exp(" not in bound(x + 1, x=x).script()


def test_a_chain_of_three_thousand_operators_is_bound() -> None:
    x, _ = inputs(2)
    found = x
    for _ in range(3000):
        found = found + 1
    assert len(bound(found, x=x).body.bindings) == 6000


def test_operators_with_several_results_give_a_tuple() -> None:
    x, array = inputs(1, 1, 4)
    largest, places = operator_results("max_pool_with_indices", x, kernel=(2,), strides=(2,))
    assert interpret(bound(places, x=x), [array]).tolist() == [[[1, 3]]]
    with pytest.raises(IRKitError, match="has several results"):
        operator("max_pool_with_indices", x, kernel=(2,))
    assert operator_results("exp", x)[0].shape == (*largest.shape[:2], 4)


def test_a_number_takes_the_type_of_the_tensor() -> None:
    x = graph_input("x", tensor_type((2,), "i32"))
    assert (x + 1).dtype == x.dtype
    with pytest.raises(DTypeError, match=r"add: 1\.5 is not of the type i32"):
        x + 1.5
    assert constant(1, "f16").dtype.bits == 16


def test_mistakes_are_named() -> None:
    x, _ = inputs(3, 4)
    with pytest.raises(ShapeError, match="matmul: argument b"):
        x @ x
    with pytest.raises(ShapeError, match="index 3 is out of range for axis 0 of 3"):
        x[3]
    with pytest.raises(ShapeError, match="3 indices for a tensor of rank 2"):
        x[0, 0, 0]
    with pytest.raises(DTypeError, match="no truth value"):
        assert x
    with pytest.raises(DTypeError, match="found list"):
        operator("add", x, [1.0])  # pyright: ignore[reportArgumentType]
    with pytest.raises(IRKitError, match="input 'x' has no value here"):
        bound(x + 1)


def test_symbolic_extents_have_no_numbers() -> None:
    x = graph_input("x", tensor_type((Var("n"), 4)))
    assert (x * 2).dims[0] is x.dims[0]
    with pytest.raises(ShapeError, match="shape of x is not constant"):
        _ = x.shape
    with pytest.raises(ShapeError, match="extent of axis 0 of x is symbolic"):
        x[0]
    assert x[:, 1].rank == 1
