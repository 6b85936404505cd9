"""A layer like Llama's as ONNX: one step of decoding with weights of 4 bits."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.numpy_helper import from_array

SIZE, WIDE, HEADS, PAST, BLOCK = 2048, 5632, 16, 256, 32
_DOMAIN = "com.microsoft"


class _Layer:
    """Nodes and constants of a layer."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, NDArray[Any]] = {}
        self.bytes = 0.0
        self._rng = np.random.default_rng(0)

    def op(self, name: str, *args: str, **attrs: Any) -> str:
        made = f"v{len(self.nodes)}"
        self.nodes.append(make_node(name, list(args), [made], **attrs))
        return made

    def constant(self, array: object, dtype: str = "float32") -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array, dtype)
        return name

    def linear(self, x: str, inner: int, columns: int) -> str:
        packed = self._rng.integers(0, 256, (columns, inner // BLOCK, BLOCK // 2), dtype=np.uint8)
        scales = self._rng.random(columns * inner // BLOCK, dtype=np.float32) * 0.005
        self.bytes += packed.nbytes
        args = x, self.constant(packed, "uint8"), self.constant(scales)
        sizes: dict[str, Any] = {
            "K": inner,
            "N": columns,
            "bits": 4,
            "block_size": BLOCK,
            "accuracy_level": 1,
        }
        return self.op("MatMulNBits", *args, domain=_DOMAIN, **sizes)

    def norm(self, x: str) -> str:
        square = self.op("ReduceMean", self.op("Mul", x, x), self.constant([-1], "int64"))
        root = self.op("Sqrt", self.op("Add", square, self.constant(1e-5)))
        return self.op("Mul", self.op("Div", x, root), self.constant(np.ones(SIZE)))

    def heads(self, x: str, rows: int) -> str:
        each = self.constant([1, rows, HEADS, SIZE // HEADS], "int64")
        return self.op("Transpose", self.op("Reshape", x, each), perm=[0, 2, 1, 3])


def llama_layer(rows: int) -> tuple[onnx.ModelProto, float]:
    """Return a layer that decodes some tokens after others in a cache, and the bytes of weights."""
    layer = _Layer()
    x = layer.norm("x")
    q, k, v = (layer.heads(layer.linear(x, SIZE, SIZE), rows) for _ in range(3))
    keys, values = (layer.op("Concat", *both, axis=2) for both in (("keys", k), ("values", v)))
    turned = layer.op("Transpose", keys, perm=[0, 1, 3, 2])
    scores = layer.op("Mul", layer.op("MatMul", q, turned), layer.constant((SIZE / HEADS) ** -0.5))
    mixed = layer.op("MatMul", layer.op("Softmax", scores, axis=-1), values)
    flat = layer.op("Transpose", mixed, perm=[0, 2, 1, 3])
    flat = layer.op("Reshape", flat, layer.constant([1, rows, SIZE], "int64"))
    middle = layer.op("Add", "x", layer.linear(flat, SIZE, SIZE))
    found = layer.norm(middle)
    gate, up = layer.linear(found, SIZE, WIDE), layer.linear(found, SIZE, WIDE)
    active = layer.op("Mul", layer.op("Mul", gate, layer.op("Sigmoid", gate)), up)
    result = layer.op("Add", middle, layer.linear(active, WIDE, SIZE))
    cache = [1, HEADS, PAST, SIZE // HEADS]
    grown = [1, HEADS, PAST + rows, SIZE // HEADS]
    kinds = TensorProto.FLOAT
    graph = make_graph(
        layer.nodes,
        "layer",
        [
            make_tensor_value_info("x", kinds, [1, rows, SIZE]),
            make_tensor_value_info("keys", kinds, cache),
            make_tensor_value_info("values", kinds, cache),
        ],
        [
            make_tensor_value_info(result, kinds, [1, rows, SIZE]),
            make_tensor_value_info(keys, kinds, grown),
            make_tensor_value_info(values, kinds, grown),
        ],
        [from_array(array, name) for name, array in layer.constants.items()],
    )
    opsets = [make_opsetid("", 18), make_opsetid(_DOMAIN, 1)]
    return make_model(graph, opset_imports=opsets, ir_version=10), layer.bytes
