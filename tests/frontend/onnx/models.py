"""Small ONNX models for tests."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

import irkit


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Sequence[str],
    *,
    opset: int,
    constants: Mapping[str, Any] | None = None,
    dtype: int = onnx.TensorProto.FLOAT,
) -> onnx.ModelProto:
    """Return a model; its outputs have no declared type."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info(name, dtype, shape) for name, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(a), name) for name, a in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run_node(
    node: onnx.NodeProto,
    feeds: Mapping[str, NDArray[Any]],
    *,
    opset: int,
    constants: Mapping[str, Any] | None = None,
) -> list[NDArray[Any]]:
    """Compile one node natively and run it."""
    outputs = [name for name in node.output if name]
    shapes = {name: array.shape for name, array in feeds.items()}
    model = model_of([node], shapes, outputs, opset=opset, constants=constants)
    return list(irkit.compile(model).run(feeds).values())


def floats(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
