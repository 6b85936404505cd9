"""Pooling in plain loops agrees with onnx.reference where that is right."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from irkit.fuzz.generators.onnx_models.windows import PLAIN_OPERATORS, axes_of


def pooled(op: str, x: Any, *, plain: bool, **attrs: Any) -> Any:
    node = helper.make_node(op, ["x"], ["y"], **attrs)
    kind = TensorProto.DOUBLE
    given = [helper.make_tensor_value_info("x", kind, list(x.shape))]
    made = [helper.make_tensor_value_info("y", kind, None)]
    graph = helper.make_graph([node], "main", given, made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    operators = list(PLAIN_OPERATORS) if plain else []
    evaluator: Any = ReferenceEvaluator(model, new_ops=operators)
    return evaluator.run(None, {"x": x})[0]


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    "attrs",
    [
        {"strides": [2, 1]},
        {"pads": [1, 1, 1, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "VALID"},
    ],
)
def test_plain_loops_agree_with_the_reference_where_it_is_right(
    op: str, attrs: dict[str, Any]
) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 4))
    attrs = {"kernel_shape": [2, 2], **attrs}
    plain = pooled(op, x, plain=True, **attrs)
    np.testing.assert_allclose(plain, pooled(op, x, plain=False, **attrs))


def test_padding_counts_only_on_request() -> None:
    x = np.full((1, 1, 3), 6.0)
    attrs: dict[str, Any] = {"kernel_shape": [2], "pads": [1, 0]}
    assert pooled("AveragePool", x, plain=True, **attrs).ravel().tolist() == [6, 6, 6]
    attrs["count_include_pad"] = 1
    assert pooled("AveragePool", x, plain=True, **attrs).ravel().tolist() == [3, 6, 6]


def test_a_last_window_must_begin_before_the_padding() -> None:
    attrs = {"kernel_shape": [2], "strides": [2], "pads": [0, 1]}
    (odd,), (even,) = axes_of([5], attrs), axes_of([4], attrs)
    assert (odd.windows(), odd.windows(ceil_mode=True)) == (3, 3)
    assert (even.windows(), even.windows(ceil_mode=True)) == (2, 2)
    (late,) = axes_of([6], {"kernel_shape": [3], "strides": [2]})
    assert (late.windows(), late.windows(ceil_mode=True)) == (2, 3)


def test_same_lower_puts_the_odd_padding_before() -> None:
    (axis,) = axes_of([4], {"kernel_shape": [2], "auto_pad": "SAME_LOWER"})
    assert (axis.begin, axis.end, axis.windows()) == (1, 0, 4)


def test_the_first_maximum_along_rows_wins_in_either_storage_order() -> None:
    x = np.array([[[[0, 5, 1], [5, 2, 5]]]], np.float64)
    node_attrs: dict[str, Any] = {"kernel_shape": [2, 2]}
    assert places(x, **node_attrs) == [1, 1]
    assert places(x, storage_order=1, **node_attrs) == [2, 2]


def places(x: Any, **attrs: Any) -> Any:
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], **attrs)
    given = [helper.make_tensor_value_info("x", TensorProto.DOUBLE, list(x.shape))]
    made = [helper.make_tensor_value_info("i", TensorProto.INT64, None)]
    graph = helper.make_graph([node], "main", given, made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    evaluator: Any = ReferenceEvaluator(model, new_ops=list(PLAIN_OPERATORS))
    return evaluator.run(None, {"x": x})[0].ravel().tolist()
