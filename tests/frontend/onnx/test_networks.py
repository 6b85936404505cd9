"""Whole networks against the outputs they shipped with and, with random weights, onnx.reference.

The shipped weights are constants, which prove little: every sum of a layer adds equal numbers.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.helper import make_node

import irkit
from irkit.fuzz.generators.reference.onnx_reference import (
    reference_outputs,
    with_output,
    with_random_weights,
)
from tests.draws import sampled
from tests.frontend.onnx.models import floats, model_of

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
# The short run has the demo, which compares squeezenet with random weights in the same way.
NETWORKS = (
    "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
    "squeezenet", "vgg19", "zfnet512",
)  # fmt: skip

# Of the root mean square of a tensor: f32 against f64 over up to 120 layers. Seen is at most 2e-5.
BOUND = 1e-4
# Of probabilities, as they are: the scores before the softmax are up to 20, so their error counts
# twentyfold in what is small.
PROBABILITY_BOUND = 5e-5


def light(name: str) -> onnx.ModelProto:
    return onnx.load(LIGHT / f"light_{name}.onnx")


def input_of(model: onnx.ModelProto) -> str:
    weights = {tensor.name for tensor in model.graph.initializer}
    (name,) = [info.name for info in model.graph.input if info.name not in weights]
    return name


def error(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Return the largest difference in units of the root mean square of the expected values."""
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    return float(np.abs(found - expected).max() / np.sqrt(np.mean(np.square(expected))))


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_an_unmodified_network_gives_the_output_it_shipped_with(name: str) -> None:
    model = light(name)
    shape = (1, 3, 224, 224)
    count = np.prod(shape)
    # What the suite's own runner feeds.
    image = (np.arange(count).reshape(shape) / count).astype(np.float32)
    (got,) = irkit.compile(model, verify=False).run({input_of(model): image}).values()
    shipped = onnx.TensorProto.FromString((LIGHT / f"light_{name}_output_0.pb").read_bytes())
    want = numpy_helper.to_array(shipped)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-7)


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_with_random_weights_agrees_with_the_reference_inside_and_at_its_end(
    name: str,
) -> None:
    model = with_random_weights(light(name))
    nodes = model.graph.node
    # A softmax over large numbers is 0 or 1 whatever came before: look at its input, too.
    last = nodes[-1].input[0] if nodes[-1].op_type == "Softmax" else nodes[-1].output[0]
    inner = nodes[len(nodes) // 2].output[0]
    for tensor in dict.fromkeys((inner, last)):
        if tensor != model.graph.output[0].name:
            model = with_output(model, tensor)
    image = np.random.default_rng(1).random((1, 3, 224, 224), dtype=np.float32)
    feeds = {input_of(model): image}
    compiled = irkit.compile(model, verify=name == "squeezenet")
    assert not any("batch_norm" in call.kernel for call in compiled.plan.calls) or (
        name == "densenet121"  # There a normalisation comes before its convolution.
    )
    got, want = compiled.run(feeds), reference_outputs(model, feeds)
    assert set(got) == set(want)
    if nodes[-1].op_type == "Softmax":
        output = nodes[-1].output[0]
        assert np.abs(got.pop(output) - want.pop(output)).max() < PROBABILITY_BOUND
    errors = {tensor: error(got[tensor], want[tensor]) for tensor in want}
    assert all(worst < BOUND for worst in errors.values()), errors
    assert np.ptp(want[last]) > 1e-2  # It says something.


def perceptron(variant: str) -> onnx.ModelProto:
    """Return a 784-256-10 network."""
    weights = {
        "w1": floats(256, 784, seed=1) / 28, "b1": floats(256, seed=2),
        "w2": floats(10, 256, seed=3) / 16, "b2": floats(10, seed=4),
    }  # fmt: skip
    if variant == "gemm":
        nodes = [
            make_node("Gemm", ["x", "w1", "b1"], ["a1"], transB=1),
            make_node("Relu", ["a1"], ["h"]),
            make_node("Gemm", ["h", "w2", "b2"], ["a2"], transB=1),
        ]
    else:
        weights |= {name: weights[name].T.copy() for name in ("w1", "w2")}
        nodes = [
            make_node("MatMul", ["x", "w1"], ["m1"]),
            make_node("Add", ["m1", "b1"], ["a1"]),
            make_node("Relu", ["a1"], ["h"]),
            make_node("MatMul", ["h", "w2"], ["m2"]),
            make_node("Add", ["b2", "m2"], ["a2"]),
        ]
    nodes.append(make_node("Softmax", ["a2"], ["y"], axis=1))
    shapes = {"x": ("batch", 784)}
    return model_of(nodes, shapes, ["y", "h", "a2"], opset=13, constants=weights)


@pytest.mark.parametrize(
    ("variant", "batch"),
    sampled([(v, b) for v in ("gemm", "matmul") for b in (1, 5, 16)], every=3, first=1),
)
def test_a_perceptron_agrees_with_the_reference(variant: str, batch: int) -> None:
    model = perceptron(variant)
    x = floats(batch, 784, seed=9)
    weights = {
        tensor.name: numpy_helper.to_array(tensor).astype(np.float64)
        for tensor in model.graph.initializer
    }
    flip = variant == "gemm"
    w1, w2 = (weights[name].T if flip else weights[name] for name in ("w1", "w2"))
    hidden = np.maximum(x @ w1 + weights["b1"], 0)
    scores = hidden @ w2 + weights["b2"]
    powers = np.exp(scores)
    want = {"h": hidden, "a2": scores, "y": powers / powers.sum(axis=1, keepdims=True)}
    got = irkit.compile(model, shapes={"x": (batch, 784)}, verify=True).run({"x": x})
    assert list(got) == ["y", "h", "a2"]
    for name, array in want.items():
        assert error(got[name], array) < 1e-5
