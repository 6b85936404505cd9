"""Models as test cases: weights, inner tensors, and the faults of the reference."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.helper import make_node

from irkit.fuzz.generators.reference.onnx_reference import (
    reference_outputs,
    with_output,
    with_random_weights,
)
from tests.frontend.onnx.models import floats, model_of


def test_the_reference_uses_the_softmax_of_the_model_version() -> None:
    x = floats(2, 3, 4)
    model = model_of([make_node("Softmax", ["x"], ["y"])], {"x": x.shape}, ["y"], opset=9)
    got = reference_outputs(model, {"x": x})["y"]
    powers = np.exp(x.astype(np.float64))
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, powers / powers.sum(axis=(1, 2), keepdims=True), rtol=1e-12)


def test_the_reference_normalises_by_the_given_statistics() -> None:
    x, ones = floats(2, 3, 4), np.ones(3, np.float32)
    nodes = [make_node("BatchNormalization", ["x", "a", "a", "a", "a"], ["y"], epsilon=0.0)]
    model = model_of(nodes, {"x": x.shape}, ["y"], opset=9, constants={"a": ones})
    np.testing.assert_allclose(reference_outputs(model, {"x": x})["y"], x, rtol=1e-6, atol=1e-6)


def test_the_reference_of_lrn_covers_all_channels() -> None:
    x = floats(1, 4, 1, 1)
    node = make_node("LRN", ["x"], ["y"], size=2, alpha=2.0, beta=1.0, bias=0.0)
    model = model_of([node], {"x": x.shape}, ["y"], opset=13)
    wide = x.astype(np.float64).reshape(4)
    near = wide**2 + np.append(wide[1:], 0) ** 2
    got = reference_outputs(model, {"x": x})["y"]
    np.testing.assert_allclose(got.reshape(4), wide / near, rtol=1e-6)


def test_random_weights_replace_floats_that_nodes_fill_in() -> None:
    fill = numpy_helper.from_array(np.array([0.5], np.float32))
    nodes = [
        make_node("ConstantOfShape", ["shape"], ["w"], value=fill),
        make_node("Add", ["x", "w"], ["s"]),
        make_node("Add", ["s", "b"], ["y"]),
    ]
    constants = {"shape": np.array([2, 3]), "b": np.zeros(3, np.float32)}
    model = model_of(nodes, {"x": (2, 3)}, ["y"], opset=9, constants=constants)
    before = model.SerializeToString()
    made = with_random_weights(model, seed=3)
    assert model.SerializeToString() == before
    assert [node.op_type for node in made.graph.node] == ["Add", "Add"]
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in made.graph.initializer}
    assert found["w"].shape == (2, 3)
    assert len(set(found["w"].reshape(-1))) == 6
    assert np.all(found["b"] > 0)
    np.testing.assert_array_equal(found["shape"], [2, 3])
    assert with_random_weights(model, seed=3) == made
    assert with_random_weights(model, seed=4) != made


def test_an_inner_tensor_becomes_an_output_if_there_is_one_of_that_name() -> None:
    nodes = [make_node("Relu", ["x"], ["h"]), make_node("Tanh", ["h"], ["y"])]
    model = model_of(nodes, {"x": (2,)}, ["y"], opset=13)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (2,)))
    x = floats(2)
    got = reference_outputs(with_output(model, "h"), {"x": x})
    np.testing.assert_allclose(got["h"], np.maximum(x, 0))
    assert list(got) == ["y", "h"]
    assert len(model.graph.output) == 1
    with pytest.raises(KeyError, match="no node of the model makes 'lost'"):
        with_output(model, "lost")


@pytest.mark.parametrize(
    ("axis", "extents"), [(0, (2,)), (1, (5,)), (1, (5, 2)), (2, (2,)), (-1, (5,)), (-2, (2, 5))]
)
def test_the_reference_aligns_operands_as_old_models_do(
    axis: int, extents: tuple[int, ...]
) -> None:
    x, y = floats(2, 5, 2, 5), floats(*extents, seed=2)
    nodes = [
        make_node("Dropout", ["x"], ["kept"], is_test=1),
        make_node("Sub", ["kept", "y"], ["z"], axis=axis, broadcast=1),
    ]
    model = model_of(nodes, {"x": x.shape}, ["z"], opset=6, constants={"y": y})
    before = axis % 4
    placed = y.reshape(*(1,) * before, *extents, *(1,) * (4 - before - len(extents)))
    got = reference_outputs(model, {"x": x})["z"]
    np.testing.assert_array_equal(got, x.astype(np.float64) - placed)
