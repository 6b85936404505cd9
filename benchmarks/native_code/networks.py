"""The networks that whole models are measured with, as ONNX files with random weights.

Those of the ``onnx`` package come without weights; here they get weights drawn at the scale of
their fan-in. Others are exported from torchvision, or made here.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from benchmarks.native_code.models import light_model
from benchmarks.native_code.onnx_nets import Net

LIGHT = (
    "squeezenet", "resnet50", "densenet121", "inception_v1", "inception_v2", "shufflenet",
    "bvlc_alexnet", "zfnet512", "vgg19",
)  # fmt: skip
TORCHVISION = {
    "mobilenet_v2": "mobilenet_v2", "efficientnet": "efficientnet_b0", "resnet18": "resnet18",
    "convnext": "convnext_tiny", "vit": "vit_b_16", "mobilenet_v3": "mobilenet_v3_large",
    "regnet": "regnet_y_400mf", "mnasnet": "mnasnet1_0",
}  # fmt: skip


def network(name: str, folder: Path) -> Path:
    """Return the file of a network, which is made if the folder does not have it yet."""
    path = folder / f"{name}.onnx"
    if not path.exists():
        if name not in (*LIGHT, *TORCHVISION, *_MADE):
            known = ", ".join((*LIGHT, *TORCHVISION, *_MADE))
            raise SystemExit(f"there is no network {name!r}; there are: {known}")
        made = path.with_suffix(".new")
        if name in TORCHVISION:
            _export(TORCHVISION[name], made)
        else:
            model = _MADE[name]() if name in _MADE else with_weights(onnx.load(light_model(name)))
            # One file, so that all engines read the same; a protobuf holds at most 2 GB.
            onnx.save(model, str(made))
        made.rename(path)
    return path


def with_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose weights that nodes fill with one number are drawn at random instead.

    A matrix or filter is drawn with the deviation that keeps the size of activations; vectors,
    such as variances, are near one, which keeps them positive.
    """
    rng = np.random.default_rng(0)
    known = {each.name: each for each in model.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in known:
            nodes.append(node)
            continue
        shape = tuple(int(n) for n in numpy_helper.to_array(known[node.input[0]]))
        if len(shape) < 2:
            array = 1 + 0.1 * rng.random(shape)
        else:
            array = rng.standard_normal(shape) * np.sqrt(2 / max(1, np.prod(shape[1:])))
        weight = numpy_helper.from_array(array.astype(np.float32), node.output[0])
        model.graph.initializer.append(weight)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [each for each in model.graph.initializer if each.name in used]
    fed = [each for each in model.graph.input if each.name in used - {k.name for k in kept}]
    del model.graph.initializer[:], model.graph.input[:]
    model.graph.initializer.extend(kept)
    model.graph.input.extend(fed)
    model.ir_version = max(model.ir_version, 4)  # From then on, weights need not be inputs.
    return model


def mlp() -> onnx.ModelProto:
    """Two layers, 784-256-10."""
    net = Net()
    x = net.input("x", 1, 784)
    x = net.op("Relu", net.op("Gemm", x, net.weight(784, 256), net.weight(256)))
    x = net.op("Gemm", x, net.weight(256, 10), net.weight(10))
    net.outputs = [net.op("Softmax", x, axis=1)]
    return net.model()


def bert(layers: int, *, rows: int = 128, width: int = 768, heads: int = 12) -> onnx.ModelProto:
    """Layers of an encoder with the sizes of BERT base, without embeddings."""
    net = Net()
    x = net.input("x", 1, rows, width)

    def norm(x: str) -> str:
        return net.op("LayerNormalization", x, net.weight(width), net.weight(width), axis=-1)

    def dense(x: str, before: int, after: int) -> str:
        return net.op("Add", net.op("MatMul", x, net.weight(before, after)), net.weight(after))

    def apart(x: str, perm: list[int]) -> str:
        shape = net.constant(np.array([1, rows, heads, width // heads]))
        return net.op("Transpose", net.op("Reshape", x, shape), perm=perm)

    for _ in range(layers):
        q, v = (apart(dense(x, width, width), [0, 2, 1, 3]) for _ in range(2))
        k = apart(dense(x, width, width), [0, 2, 3, 1])
        root = net.constant(np.float32((width // heads) ** 0.5))
        scores = net.op("Softmax", net.op("Div", net.op("MatMul", q, k), root), axis=-1)
        mixed = net.op("Transpose", net.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        joined = net.op("Reshape", mixed, net.constant(np.array([1, rows, width])))
        x = norm(net.op("Add", x, dense(joined, width, width)))
        inner = net.op("Gelu", dense(x, width, 4 * width))
        x = norm(net.op("Add", x, dense(inner, 4 * width, width)))
    net.outputs = [x]
    return net.model()


_MADE: dict[str, Callable[[], onnx.ModelProto]] = {
    "mlp": mlp,
    "bert": lambda: bert(1),
    "bert12": lambda: bert(12),
}


def _export(name: str, path: Path) -> None:
    """Export an image classifier of torchvision with random weights."""
    torch: Any = import_module("torch")
    models: Any = import_module("torchvision.models")
    torch.manual_seed(0)
    model = getattr(models, name)(weights=None).eval()
    image = torch.zeros(1, 3, 224, 224)
    torch.onnx.export(
        model, (image,), str(path), dynamo=True, opset_version=18, external_data=False
    )
