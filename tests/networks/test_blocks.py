"""A block of each kind of network, as PyTorch's exporters write it, against onnx.reference.

``python -m tests.networks.export --blocks`` wrote them. Their weights are drawn here.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

import irkit
from tests.draws import sampled
from tests.networks.compare import relative_error

TEXTS = sorted((Path(__file__).parent / "block_texts").glob("*.onnxtxt"))
TOKENS = 32
BOUND = 2e-6


def block(path: Path) -> tuple[onnx.ModelProto, dict[str, NDArray[Any]]]:
    """Return the model of a text with random weights, and random inputs."""
    model = onnx.parser.parse_model(path.read_text())
    rng = np.random.default_rng(5)
    (weights,) = (each.value.split() for each in model.metadata_props if each.key == "weights")
    inputs: dict[str, NDArray[Any]] = {}
    for info in list(model.graph.input):
        tensor = info.type.tensor_type
        shape = tuple(dim.dim_value for dim in tensor.shape.dim)
        if info.name in weights:
            array = rng.normal(0.0, 1.0 / np.sqrt(np.prod(shape[1:])), shape).astype(np.float32)
            model.graph.initializer.append(numpy_helper.from_array(array, info.name))
            model.graph.input.remove(info)
        elif tensor.elem_type == TensorProto.INT64:
            inputs[info.name] = (
                (np.arange(np.prod(shape)) < 6).astype(np.int64).reshape(shape)
                if "mask" in info.name
                else rng.integers(0, TOKENS, shape)
            )
        else:
            inputs[info.name] = rng.normal(size=shape).astype(np.float32)
    return model, inputs


@pytest.mark.parametrize("path", sampled(TEXTS, every=4), ids=lambda path: path.stem)
def test_an_exported_block_agrees_with_the_reference(path: Path) -> None:
    model, inputs = block(path)
    names = [output.name for output in model.graph.output]
    got = irkit.compile(model, verify=False).run(inputs)
    want = dict(zip(names, ReferenceEvaluator(model).run(None, inputs), strict=True))
    assert list(got) == names
    for name in names:
        assert got[name].shape == want[name].shape
        assert got[name].dtype == want[name].dtype
        assert relative_error(got[name], want[name]) < BOUND


def test_there_is_a_block_of_each_kind_of_network() -> None:
    kinds = {path.stem.split(".")[0] for path in TEXTS}
    assert kinds == {
        "bert", "convnext", "deeplab", "diffusion", "efficientnet", "gpt2", "gru", "llama", "lstm",
        "mobilenet_v3", "resnet", "swin", "unet", "vit", "yolo",
    }  # fmt: skip
