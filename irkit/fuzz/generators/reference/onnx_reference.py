"""Models as test cases: random weights, inner tensors as outputs, and the results of onnx.reference
in float64.

The reference has faults: at opset 9 it gives Softmax the newest meaning of ``axis``, and
BatchNormalization the statistics of training. So a model is converted to opset 15 first, with
``ir_version`` 8; and before that, operands are aligned as opsets before 7 do, since the converter
puts each at the first axis. Its LRN changes only the first few channels (it counts them by the
batch), so it is replaced.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper, version_converter
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_grid_sample import GridSample as _GridSample

_REFERENCE_OPSET = 15
_BROADCASTS = 7
"""The operator set since which operands broadcast as those of NumPy do."""
_ALIGNED = ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Greater", "Less", "Equal")


def with_random_weights(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    """Copy a model with random numbers for its float weights, also those that a ConstantOfShape
    node makes.

    They are scaled by their fan-in, so that values neither explode nor vanish on the way through a
    deep network.
    """
    made = onnx.ModelProto()
    made.CopyFrom(model)
    rng = np.random.default_rng(seed)
    shapes = {each.name: numpy_helper.to_array(each) for each in made.graph.initializer}
    kept = [node for node in made.graph.node if not _is_filler(node, shapes)]
    for node in made.graph.node:
        if _is_filler(node, shapes):
            shape = tuple(int(dim) for dim in shapes[node.input[0]])
            array = _random(rng, shape)
            made.graph.initializer.append(numpy_helper.from_array(array, node.output[0]))
    del made.graph.node[:]
    made.graph.node.extend(kept)
    for tensor in made.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and tensor.name in shapes:
            array = _random(rng, tuple(tensor.dims))
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return made


def _is_filler(node: onnx.NodeProto, known: Mapping[str, NDArray[Any]]) -> bool:
    return node.op_type == "ConstantOfShape" and node.input[0] in known


def _random(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
    scale = np.sqrt(2.0 / fan_in) if len(shape) > 1 else 0.1
    # Mostly positive numbers: a running variance must be positive.
    values = rng.normal(0.0, scale, shape) if len(shape) > 1 else rng.uniform(0.05, 1.0, shape)
    return values.astype(np.float32)


def with_output(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Copy a model with one more output: a tensor from inside it.

    Raises: KeyError if no node makes a tensor of that name.
    """
    if not any(name in node.output for node in model.graph.node):
        raise KeyError(f"no node of the model makes {name!r}")
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.graph.output.append(helper.make_empty_tensor_value_info(name))
    return made


def reference_outputs(
    model: onnx.ModelProto,
    inputs: Mapping[str, NDArray[Any]],
    operators: Sequence[type[OpRun]] = (),
) -> dict[str, NDArray[Any]]:
    """Run a model with onnx.reference, every float in float64; ``operators`` replace its own."""
    names = [each.name for each in model.graph.output]
    newer = onnx.ModelProto()
    newer.CopyFrom(model)
    newer.ir_version = 8
    extra = [each for each in newer.graph.output if not each.HasField("type")]
    for each in extra:  # The converter needs types; the evaluator accepts any name.
        newer.graph.output.remove(each)
    if _opset_of(newer) < _BROADCASTS:
        _align_operands(newer)
    if _opset_of(newer) != _REFERENCE_OPSET:
        newer = version_converter.convert_version(newer, _REFERENCE_OPSET)
    evaluator = ReferenceEvaluator(_in_float64(newer), new_ops=[*CORRECTED, *operators])
    feeds = {name: _wide(array) for name, array in inputs.items()}
    run = cast(Callable[..., list[Any]], evaluator.run)
    found = run(names, feeds)
    return dict(zip(names, found, strict=True))


def _align_operands(model: onnx.ModelProto) -> None:
    """Reshape second operands that are aligned at an axis of the first: the converter takes every
    axis for the first."""
    ranks = _ranks(model)
    nodes = list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        axis = next((attr for attr in node.attribute if attr.name == "axis"), None)
        if node.op_type in _ALIGNED and axis is not None:
            a, b = node.input
            after = list(range(ranks[b], ranks[a] - axis.i % ranks[a]))
            if after:
                node.input[1] = f"{b}, placed for {node.output[0]}"
                model.graph.node.add(op_type="Unsqueeze", input=[b], output=[node.input[1]])
                model.graph.node[-1].attribute.append(helper.make_attribute("axes", after))
            node.attribute.remove(axis)
        model.graph.node.append(node)


def _ranks(model: onnx.ModelProto) -> dict[str, int]:
    """Return the rank of all values whose shapes are known."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    infos = (*graph.value_info, *graph.input, *graph.output)
    ranks = {each.name: len(each.type.tensor_type.shape.dim) for each in infos}
    return ranks | {each.name: len(each.dims) for each in graph.initializer}


def _opset_of(model: onnx.ModelProto) -> int:
    return max((each.version for each in model.opset_import if not each.domain), default=0)


class LRN(OpRun):
    """Divide by a power of the local sum of squares across channels. Source: ONNX LRN-13."""

    op_domain = ""

    def _run(self, *args: Any, **attrs: Any) -> tuple[NDArray[Any]]:
        (x,), size = args, int(attrs["size"])
        squares = np.square(x)
        total = np.zeros_like(x)
        for channel in range(x.shape[1]):
            near = slice(max(0, channel - (size - 1) // 2), channel + size // 2 + 1)
            total[:, channel] = squares[:, near].sum(axis=1)
        return (x / (attrs["bias"] + attrs["alpha"] / size * total) ** attrs["beta"],)


class GridSample(_GridSample):
    """Interpolate at the places of a grid; cubic samples at a border weigh elements that are
    repeated beyond it. Source: GridSample-22, as ONNX Runtime and PyTorch compute it.

    The evaluator of onnx moves the place to the border before it takes the weights.
    """

    op_domain = ""

    def _run(self, *args: Any, **attrs: Any) -> Any:
        (image, grid), run = args, cast(Callable[..., Any], super()._run)  # pyright: ignore[reportUnknownMemberType] -- onnx has no types
        if attrs["mode"] not in ("cubic", "bicubic") or attrs["padding_mode"] != "border":
            return run(image, grid, **attrs)
        sizes = np.array(image.shape[:1:-1], np.float64)
        align = bool(attrs["align_corners"])
        places = (grid + 1) / 2 * (sizes - 1) if align else ((grid + 1) * sizes - 1) / 2
        room = 3 + int(np.ceil(np.abs(places).max(initial=0)))
        wide = np.pad(image, [(0, 0), (0, 0), *[(room, room)] * (image.ndim - 2)], mode="edge")
        sizes, places = sizes + 2 * room, places + room
        moved = places / (sizes - 1) * 2 - 1 if align else (places * 2 + 1) / sizes - 1
        return run(wide, moved.astype(grid.dtype), **{**attrs, "padding_mode": "zeros"})


CORRECTED: tuple[type[OpRun], ...] = (LRN, GridSample)
"""Operators that onnx.reference computes otherwise than the standard, or others, do."""


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def _in_float64(model: onnx.ModelProto) -> onnx.ModelProto:
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            wide = numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
    for info in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in model.graph.node:
        _with_tensor(node)
        for attr in node.attribute:
            if attr.type == onnx.AttributeProto.TENSOR and attr.t.data_type == TensorProto.FLOAT:
                wide = numpy_helper.to_array(attr.t).astype(np.float64)
                attr.t.CopyFrom(numpy_helper.from_array(wide, attr.t.name))
    return model


def _with_tensor(node: onnx.NodeProto) -> None:
    """Convert floats that a node makes, from a list or by default, to a tensor."""
    for attr in list(node.attribute):
        if node.op_type == "Constant" and attr.name == "value_floats":
            value = numpy_helper.from_array(np.asarray(attr.floats, np.float64))
            node.attribute.remove(attr)
            node.attribute.append(helper.make_attribute("value", value))
    if node.op_type == "ConstantOfShape" and not node.attribute:
        value = numpy_helper.from_array(np.zeros(1, np.float64))
        node.attribute.append(helper.make_attribute("value", value))
