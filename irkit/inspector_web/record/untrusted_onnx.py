"""Import a model that somebody else made, without reading any other file of this machine.

A tensor of an ONNX model can name another file as the place of its data.
"""

from collections.abc import Iterator
from pathlib import Path

import onnx

from irkit.core import FormatError, IRModule
from irkit.frontend.onnx import import_onnx, load_model


def import_untrusted_onnx(path: str) -> IRModule:
    """Import a model from its own file only.

    Raises: FormatError if a tensor has its data in another file; otherwise as import_onnx.
    """
    model = load_model(Path(path).read_bytes())
    for tensor in _tensors(model):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise FormatError(
                f"the data of tensor {tensor.name[:80]!r} is in another file, which an uploaded "
                "model may not read",
                hint="Save the model with its data in one file, or open it with irkit inspect.",
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
