"""ONNX models with fields changed, or with damaged encoding."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, TensorProto

from irkit.fuzz.generators.malformed.byte_damage import damaged, varint
from irkit.fuzz.generators.malformed.onnx_seeds import onnx_seeds
from irkit.fuzz.picks import Picks

NUMBERS = (0, 1, -1, 2, 3, 4, 5, 7, 1 << 20, 1 << 31, 1 << 40, 1 << 62, -(1 << 63), (1 << 63) - 1)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e30, -1e30, 1e-40, float("nan"), float("inf"))
NAMES = ("", "x", "y", "a", "b", "w", "z", "g", "\0", "é", "x" * 2_000, "../x", "'; --", "a\nb")
OPERATORS = (
    "Relu", "Add", "Conv", "Softmax", "Reshape", "Identity", "Gemm", "Concat", "If", "Loop", "Scan",
    "Det", "", "relu", "MaxPool", "BatchNormalization", "Constant", "LSTM", "Transpose", "Flatten",
)  # fmt: skip
PATHS = (
    "weights.bin", "./weights.bin", "inner/../weights.bin", "/etc/passwd", "../secret.bin",
    "link.bin", "folder", "pipe", "", "missing.bin", "inner/../../secret.bin", "/dev/zero", "\0",
    "C:\\secret.bin", "..\\secret.bin", "weights.bin/", "linked/secret.bin", "hard.bin", "~/x",
)  # fmt: skip
"""Locations of external data; a folder with files of these names is beside the model."""


def malformed_model(
    picks: Picks, draw: Callable[[], bytes] | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Make a malformed model, a seed with some fields or bytes changed, and list what was done to
    it; ``draw`` returns models to change besides the seeds."""
    seeds = onnx_seeds()
    data = picks.pick(seeds) if draw is None or picks.one_in(3) else draw()
    if picks.one_in(500):
        return data + nested(picks.pick((100_000, 1_000, 40))), ("very deep",)
    if picks.one_in(3):
        return damaged(data, picks, picks.some(seeds, 2)), ("bytes",)
    model = onnx.ModelProto.FromString(data)
    names = dict[str, None]()
    for _ in range(picks.pick((1, 1, 2))):
        change = picks.pick(_CHANGES)
        change(model, picks)
        names[change.__name__.strip("_").replace("_", " ")] = None
    return model.SerializeToString(), tuple(names)


def nested(depth: int) -> bytes:
    """Encode graphs in attributes of nodes of graphs, deeper than the library would write them."""
    heads: list[bytes] = []
    length = 0
    for at in range(depth):
        for tag in (0x32, 0x2A, 0x0A) if at else (0x2A, 0x0A):  # graph, attribute, node
            heads.append(bytes([tag]) + varint(length))
            length += len(heads[-1])
    heads.append(b"\x3a" + varint(length))
    return b"".join(reversed(heads))


def _any(items: Any, picks: Picks) -> Any:
    """Pick one of the entries of a repeated field, or None."""
    return items[picks.below(len(items))] if len(items) else None


def _attribute(model: onnx.ModelProto, picks: Picks) -> None:
    """Change the value of an attribute."""
    with_any = [node for node in model.graph.node if node.attribute]
    if not with_any:
        return _operator(model, picks)
    attr = _any(_any(with_any, picks).attribute, picks)
    if attr.ints:
        match picks.below(4):
            case 0:
                attr.ints.append(picks.pick(NUMBERS))
            case 1:
                del attr.ints[picks.below(len(attr.ints))]
            case _:
                attr.ints[picks.below(len(attr.ints))] = picks.pick(NUMBERS)
    elif attr.type == AttributeProto.FLOAT:
        attr.f = picks.pick(FLOATS)
    elif attr.type == AttributeProto.TENSOR:
        _spoil(attr.t, picks)
    else:
        attr.i = picks.pick(NUMBERS)
    return None


def _attribute_kind(model: onnx.ModelProto, picks: Picks) -> None:
    """Change the type or name of an attribute, or add or remove an attribute of a node."""
    node = _any(model.graph.node, picks)
    if node is None:
        return
    if not node.attribute or picks.one_in(3):
        names = ("axis", "perm", "group", "to", "pads", "auto_pad", "kernel_shape", "value", "")
        values: tuple[Any, ...] = (1, -1, 1.5, "SAME_UPPER", [1, 1], [2, 2, 2, 2], [0.5], "é")
        name, value = picks.pick(names), picks.pick(values)
        node.attribute.append(onnx.helper.make_attribute(name or "no", value))
        return
    attr = _any(node.attribute, picks)
    match picks.below(4):
        case 0:
            attr.type = picks.below(15)
        case 1:
            attr.name = picks.pick(NAMES)
        case 2:
            node.attribute.append(attr)
        case _:
            node.attribute.remove(attr)


def _dimension(model: onnx.ModelProto, picks: Picks) -> None:
    """Change an extent of an input, its rank, or its element type."""
    info = _any(model.graph.input, picks)
    if info is None:
        return
    tensor = info.type.tensor_type
    match picks.below(6):
        case 0:
            tensor.elem_type = picks.below(30)
        case 1:
            tensor.shape.dim.add().dim_value = picks.pick(NUMBERS)
        case 2 if tensor.shape.dim:
            del tensor.shape.dim[picks.below(len(tensor.shape.dim))]
        case 3 if tensor.shape.dim:
            _any(tensor.shape.dim, picks).dim_param = picks.pick(NAMES)
        case 4:
            tensor.ClearField("shape")
        case _:
            if tensor.shape.dim:
                _any(tensor.shape.dim, picks).dim_value = picks.pick(NUMBERS)


def _name(model: onnx.ModelProto, picks: Picks) -> None:
    """Rename something: to names that are missing, duplicated, or make a cycle."""
    graph = model.graph
    groups: list[Any] = [
        names for node in graph.node for names in (node.input, node.output) if names
    ]
    known = [name for names in groups for name in names] + list(NAMES)
    if picks.one_in(3):
        named = [*graph.input, *graph.output, *graph.initializer, *graph.node]
        if named:
            _any(named, picks).name = picks.pick(known)
    elif groups:
        names = picks.pick(groups)
        names[picks.below(len(names))] = picks.pick(known)


def _arity(model: onnx.ModelProto, picks: Picks) -> None:
    node = _any(model.graph.node, picks)
    if node is None:
        return
    names = picks.pick((node.input, node.output))
    if names and picks.one_in(2):
        del names[picks.below(len(names))]
    else:
        names.append(picks.pick(NAMES))


def _operator(model: onnx.ModelProto, picks: Picks) -> None:
    node = _any(model.graph.node, picks)
    if node is not None:
        node.op_type = picks.pick(OPERATORS)
        if picks.one_in(10):
            node.domain = picks.pick(("ai.onnx", "com.microsoft", "é", "ai.onnx.ml"))


def _order(model: onnx.ModelProto, picks: Picks) -> None:
    """Move, copy or drop a node, an input, an output or an initialiser."""
    graph = model.graph
    entries: Any = picks.pick(
        (graph.node, graph.node, graph.input, graph.output, graph.initializer)
    )
    if not entries:
        return
    kept = list(entries)
    at = picks.below(len(kept))
    match picks.below(3):
        case 0:
            kept.insert(picks.below(len(kept)), kept.pop(at))
        case 1:
            kept.insert(picks.below(len(kept) + 1), kept[at])
        case _:
            del kept[at]
    copies = [copy.deepcopy(each) for each in kept]
    del entries[:]
    entries.extend(copies)


def _tensor(model: onnx.ModelProto, picks: Picks) -> None:
    tensor = _any(model.graph.initializer, picks)
    if tensor is not None:
        _spoil(tensor, picks)


def _spoil(tensor: TensorProto, picks: Picks) -> None:
    match picks.below(6):
        case 0:
            tensor.data_type = picks.below(30)
        case 1:
            tensor.dims.append(picks.pick(NUMBERS))
        case 2 if tensor.dims:
            tensor.dims[picks.below(len(tensor.dims))] = picks.pick(NUMBERS)
        case 3:
            tensor.raw_data = tensor.raw_data[: picks.below(len(tensor.raw_data) + 1)]
        case 4:
            tensor.float_data.extend([picks.pick(FLOATS)])
        case _:
            _outside(tensor, picks)


def _outside(tensor: TensorProto, picks: Picks) -> None:
    """Move the data of a tensor to another file."""
    tensor.data_location = TensorProto.EXTERNAL
    tensor.ClearField("raw_data")
    keys = {"location": picks.pick(PATHS)}
    if picks.one_in(3):
        keys["offset"] = str(picks.pick(NUMBERS))
    if picks.one_in(3):
        keys["length"] = picks.pick((*map(str, NUMBERS), "x", "", "9" * 5_000))
    del tensor.external_data[:]
    for key, value in keys.items():
        tensor.external_data.add(key=key, value=value)


def _versions(model: onnx.ModelProto, picks: Picks) -> None:
    if model.opset_import and picks.one_in(2):
        model.opset_import[0].version = picks.pick((1, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, *NUMBERS))
    elif picks.one_in(3):
        del model.opset_import[:]
    else:
        model.ir_version = picks.pick(NUMBERS)


def _nested(model: onnx.ModelProto, picks: Picks) -> None:
    """Put graphs into graphs, as in If and Loop."""
    graph = onnx.GraphProto()
    for _ in range(picks.pick((1, 8, 25))):
        outer = onnx.GraphProto()
        outer.node.add(op_type="If", output=["z"]).attribute.add(
            name="then_branch", type=AttributeProto.GRAPH
        ).g.CopyFrom(graph)
        graph = outer
    model.graph.node.extend(graph.node)


def _huge(model: onnx.ModelProto, picks: Picks) -> None:
    """Make very many of something."""
    count = picks.pick((1_000, 4_000))
    match picks.below(4):
        case 0:
            tensor = _any(model.graph.initializer, picks)
            if tensor is not None:
                tensor.dims.extend([1] * picks.pick((33, 65, count)))
        case 1:
            _long_chain(model, picks.pick((50, 300)))
        case 2:
            model.graph.input.add(name="x" * count * 10)
        case _:
            node = _any(model.graph.node, picks)
            if node is not None:
                node.input.extend([node.input[0] if node.input else ""] * picks.pick((30, count)))


def _long_chain(model: onnx.ModelProto, count: int) -> None:
    if not model.graph.output:
        return
    last = model.graph.output[0].name
    for at in range(count):
        model.graph.node.add(op_type="Identity", input=[last], output=[f"chain{at}"])
        last = f"chain{at}"
    model.graph.output[0].name = last


_CHANGES: Sequence[Callable[[onnx.ModelProto, Picks], None]] = (
    _attribute, _attribute, _attribute, _attribute_kind, _dimension, _dimension, _name, _name,
    _arity, _operator, _order, _tensor, _tensor, _versions, _nested, _huge,
)  # fmt: skip
