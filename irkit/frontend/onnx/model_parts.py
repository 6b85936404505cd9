"""A model in two parts: what can be computed before some values are known, and what needs them.

    x ─► NonZero ─► y ─► Transpose ─► z      parts at y:  x ─► NonZero ─► y  |  y ─► Transpose ─► z

The first part holds every node that does not depend on these values, so the second, which is
compiled for each size that is met, is as small as it can be.
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec
import onnx

from irkit.frontend.onnx.model_inputs import input_infos


class ModelParts(msgspec.Struct, frozen=True, eq=False):
    """The two parts; ``rest`` is None if the first computes all outputs of the model.

    ``crossing`` are the outputs of the first part that the second takes as inputs, which do not
    have a type yet.
    """

    first: onnx.ModelProto
    rest: onnx.ModelProto | None
    crossing: tuple[str, ...]


def split_model(model: onnx.ModelProto, values: Collection[str]) -> ModelParts:
    """Return the part that computes ``values`` and all that does not depend on them, and the rest
    of the model, which takes them as inputs."""
    graph = model.graph
    first: list[onnx.NodeProto] = []
    later: list[onnx.NodeProto] = []
    late: set[str] = set()
    for node in graph.node:
        reads = set(names_read(node))
        if reads & late or reads & set(values):
            later.append(node)
            late |= set(node.output)
        else:
            first.append(node)
    if not later:
        return ModelParts(model, None, ())
    made = {name for node in first for name in node.output if name}
    read_later = {name for node in later for name in names_read(node)}
    outputs = [info.name for info in graph.output]
    crossing = tuple(sorted(read_later & made))
    early = [name for name in outputs if name not in late]
    return ModelParts(
        _part(model, first, list(dict.fromkeys([*early, *crossing]))),
        _part(model, later, [name for name in outputs if name in late]),
        crossing,
    )


def with_inputs(
    model: onnx.ModelProto, types: Iterable[tuple[str, int, Sequence[int | str]]]
) -> onnx.ModelProto:
    """Add inputs, of which a name, an element type and dimensions are given."""
    infos = [onnx.helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in types]
    model.graph.input.extend(infos)
    return model


def names_read(node: onnx.NodeProto) -> list[str]:
    """Return the names that a node reads, with those that its graphs read from around it."""
    found = [name for name in node.input if name]
    for attr in node.attribute:
        if attr.type == onnx.AttributeProto.GRAPH:
            inner = {name for each in attr.g.node for name in each.output}
            inner |= {each.name for each in (*attr.g.input, *attr.g.initializer)}
            read = [name for each in attr.g.node for name in names_read(each)]
            read += [info.name for info in attr.g.output]
            found += [name for name in read if name not in inner]
    return found


def cycle_through(node: onnx.NodeProto, name: str, nodes: Sequence[onnx.NodeProto]) -> str:
    """Return in words how a name that a node reads is computed from an output of the same node;
    "" if it is not."""
    makers = {output: each for each in nodes for output in each.output if output}
    came: dict[str, str] = {name: ""}
    waiting = [name]
    for at in waiting:
        if at in node.output:
            path = [at]
            while came[path[-1]]:
                path.append(came[path[-1]])
            words = ", which is computed from ".join(map(repr, reversed(path)))
            return f"{words}, its own output"
        maker = makers.get(at)
        for read in () if maker is None else names_read(maker):
            if read not in came:
                came[read] = at
                waiting.append(read)
    return ""


def _part(
    model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]
) -> onnx.ModelProto:
    graph = model.graph
    read = {name for node in nodes for name in names_read(node)} | set(outputs)
    part = onnx.helper.make_graph(
        nodes,
        graph.name,
        [info for info in input_infos(graph) if info.name in read],
        [onnx.helper.make_empty_tensor_value_info(name) for name in outputs],
        [tensor for tensor in graph.initializer if tensor.name in read],
    )
    made = onnx.helper.make_model(part, opset_imports=model.opset_import, functions=model.functions)
    made.ir_version = model.ir_version
    return made
