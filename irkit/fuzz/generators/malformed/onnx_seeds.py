"""Small models which, between them, use the operators that are drawn, in several versions."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.helper import make_node

_F, _I, _D = TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE

Extents = Sequence[int | str]


@cache
def onnx_seeds() -> tuple[bytes, ...]:
    """List the models to change, as bytes."""
    made = (*_elementwise(), *_windows(), *_products(), *_shapes(), *_constants(), *_networks())
    return tuple(model.SerializeToString() for model in made)


def _model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Extents],
    outputs: Sequence[str],
    opset: int,
    dtype: int = _F,
    **constants: Any,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(name, dtype, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, dtype, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _small(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Fill an array with small whole numbers, not all the same, none 0."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 % 5) + 1).astype(np.float32).reshape(shape)


def _elementwise() -> list[onnx.ModelProto]:
    xy: dict[str, Extents] = {"x": (2, 3), "y": (3,)}
    chain = [
        make_node("Add", ["x", "y"], ["a"]),
        make_node("Mul", ["a", "x"], ["b"]),
        make_node("Relu", ["b"], ["z"]),
    ]
    old = [
        make_node("Sub", ["x", "y"], ["a"], broadcast=1, axis=1),
        make_node("Clip", ["a"], ["z"], min=-2.0, max=3.0),
    ]
    bounded = [
        make_node("Div", ["x", "y"], ["a"]),
        make_node("Clip", ["a", "low", ""], ["b"]),
        make_node("Sum", ["b", "x", "y"], ["z"]),
    ]
    smooth = [
        make_node("Sigmoid", ["x"], ["a"]),
        make_node("Tanh", ["a"], ["b"]),
        make_node("Dropout", ["b"], ["c", "mask"]),
        make_node("Identity", ["c"], ["z"]),
    ]
    whole = [make_node("Add", ["x", "k"], ["a"]), make_node("Mul", ["a", "x"], ["z"])]
    return [
        _model(chain, xy, ["z"], 13),
        _model(chain, {"x": ("n", 3), "y": (3,)}, ["z"], 13),
        _model(old, xy, ["z"], 6),
        _model(bounded, xy, ["z"], 13, low=np.float32(0.5)),
        _model(smooth, {"x": (2, 3)}, ["z"], 13),
        _model(whole, {"x": (4,)}, ["z"], 14, _I, k=np.array([1, 2, 3, 4])),
        _model([make_node("Sub", ["x", "k"], ["z"])], {"x": (4,)}, ["z"], 13, _D, k=np.ones(4)),
    ]


def _windows() -> list[onnx.ModelProto]:
    image: dict[str, Extents] = {"x": (1, 2, 4, 4)}
    conv = make_node(
        "Conv", ["x", "w", "b"], ["z"], pads=[1, 1, 1, 1], strides=[1, 1], dilations=[1, 1], group=1
    )
    grouped = make_node("Conv", ["x", "w"], ["z"], group=2, kernel_shape=[2, 2], auto_pad="VALID")
    lrn = [
        make_node("LRN", ["x"], ["a"], size=3, alpha=0.1, beta=0.75, bias=1.0),
        make_node("GlobalAveragePool", ["a"], ["z"]),
    ]
    pools = [
        make_node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2], strides=[1, 1], ceil_mode=0),
        make_node(
            "AveragePool", ["a"], ["z"], kernel_shape=[2, 2], pads=[0, 1, 0, 1], count_include_pad=1
        ),
    ]
    norm = make_node("BatchNormalization", ["x", "s", "s", "s", "s"], ["z"], epsilon=1e-3)
    return [
        _model([conv], image, ["z"], 11, w=_small(2, 2, 3, 3), b=_small(2)),
        _model([grouped], image, ["z"], 11, w=_small(2, 1, 2, 2)),
        _model(lrn, image, ["z"], 13),
        _model(pools, image, ["z"], 11),
        _model([norm], image, ["z"], 9, s=_small(2)),
    ]


def _products() -> list[onnx.ModelProto]:
    gemm = make_node("Gemm", ["x", "w", "c"], ["z"], alpha=0.5, beta=2.0, transB=1)
    layers = [
        make_node("MatMul", ["x", "w"], ["a"]),
        make_node("Add", ["a", "b"], ["c"]),
        make_node("Softmax", ["c"], ["z"], axis=1),
    ]
    return [
        _model([gemm], {"x": (2, 3)}, ["z"], 11, w=_small(4, 3), c=_small(4)),
        _model(layers, {"x": (2, 3)}, ["z"], 12, w=_small(3, 4), b=_small(4)),
        _model(layers, {"x": ("n", 3)}, ["z"], 13, w=_small(3, 4), b=_small(4)),
    ]


def _shapes() -> list[onnx.ModelProto]:
    cube: dict[str, Extents] = {"x": (2, 1, 3)}
    moves = [
        make_node("Transpose", ["x"], ["a"], perm=[2, 0, 1]),
        make_node("Reshape", ["a", "to"], ["b"]),
        make_node("Concat", ["b", "b"], ["z"], axis=1),
    ]
    ones = [
        make_node("Squeeze", ["x", "one"], ["a"]),
        make_node("Unsqueeze", ["a", "zero"], ["b"]),
        make_node("Flatten", ["b"], ["z"], axis=2),
    ]
    old = [
        make_node("Squeeze", ["x"], ["a"], axes=[1]),
        make_node("Unsqueeze", ["a"], ["z"], axes=[0, 3]),
    ]
    return [
        _model(moves, cube, ["z"], 13, to=np.array([3, -1])),
        _model(ones, cube, ["z"], 13, one=np.array([1]), zero=np.array([0])),
        _model(old, cube, ["z"], 11),
    ]


def _constants() -> list[onnx.ModelProto]:
    filled = [
        make_node("ConstantOfShape", ["s"], ["a"], value=numpy_helper.from_array(_small(1))),
        make_node("Constant", [], ["b"], value=numpy_helper.from_array(_small(3))),
        make_node("Constant", [], ["c"], value_float=2.0),
        make_node("Sum", ["a", "b", "c", "x"], ["z"]),
    ]
    typed = helper.make_tensor("t", _F, [2, 2], [1.0, 2.0, 3.0, 4.0])
    model = _model([make_node("Mul", ["x", "t"], ["z"])], {"x": (2, 2)}, ["z"], 13)
    model.graph.initializer.append(typed)
    return [_model(filled, {"x": (2, 3)}, ["z"], 13, s=np.array([2, 3])), model]


def _networks() -> list[onnx.ModelProto]:
    network = [
        make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        make_node("Relu", ["a"], ["b"]),
        make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
        make_node("Flatten", ["c"], ["d"]),
        make_node("Gemm", ["d", "v"], ["z"], transB=1),
    ]
    image: dict[str, Extents] = {"x": (1, 1, 4, 4)}
    return [_model(network, image, ["z"], 13, w=_small(1, 1, 3, 3), v=_small(3, 4))]
