"""Read a model that somebody else made, who must not get at files of this machine: a tensor of an
ONNX model may say that its data stands in another file."""

from collections.abc import Iterator
from pathlib import Path

import onnx

from irkit.core import FormatError, IRModule
from irkit.frontend.onnx import import_onnx, load_model


def import_untrusted_onnx(path: str) -> IRModule:
    """Import a model from what stands in its own file.

    Raises: FormatError if there is more to it; else as import_onnx.
    """
    model = load_model(Path(path).read_bytes())
    for tensor in _tensors(model):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise FormatError(
                f"the data of tensor {tensor.name[:80]!r} stands in another file, which is not "
                "read here",
                hint="Save the model with its data in one file, or name it to irkit inspect.",
            )
    return import_onnx(model)


def _tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    graphs = [model.graph]
    nodes = [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if not nodes:
            graph = graphs.pop()
            yield from graph.initializer
            for sparse in graph.sparse_initializer:
                yield from (sparse.values, sparse.indices)
            nodes += graph.node
            continue
        for attribute in nodes.pop().attribute:
            yield from (attribute.t, *attribute.tensors)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            if attribute.HasField("g"):
                graphs.append(attribute.g)
            graphs += attribute.graphs
