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

from benchmarks.native_code.onnx_nets import Net, bert, mlp

LIGHT = (
    "squeezenet", "resnet50", "densenet121", "inception_v1", "inception_v2", "shufflenet",
    "bvlc_alexnet", "zfnet512", "vgg19",
)  # fmt: skip
TORCHVISION = {
    "mobilenet_v2": "mobilenet_v2", "efficientnet": "efficientnet_b0", "resnet18": "resnet18",
    "convnext": "convnext_tiny", "vit": "vit_b_16", "mobilenet_v3": "mobilenet_v3_large",
    "regnet": "regnet_y_400mf", "mnasnet": "mnasnet1_0", "shufflenet_v2": "shufflenet_v2_x1_0",
    "resnext": "resnext50_32x4d",
}  # fmt: skip


def light_model(name: str) -> Path:
    """Return the path of a network that ships inside the onnx package."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


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
            if name in _MADE:
                model = _MADE[name]().model()
            else:
                light = onnx.ModelProto.FromString(light_model(name).read_bytes())
                model = with_weights(light)
            made.write_bytes(model.SerializeToString())
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


_MADE: dict[str, Callable[[], Net]] = {
    "mlp": lambda: mlp(784, 256, 10).at(batch=1),
    "alexnet_layers": lambda: mlp(9216, 4096, 4096, 1000).at(batch=1),
    "vgg19_layers": lambda: mlp(25088, 4096, 4096, 1000).at(batch=1),
    "bert": lambda: bert(layers=1, width=768, heads=12).at(batch=1, seq=128),
    "bert12": lambda: bert(layers=12, width=768, heads=12).at(batch=1, seq=128),
}
"""A small network, the fully connected layers of two, and layers of an encoder."""


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
