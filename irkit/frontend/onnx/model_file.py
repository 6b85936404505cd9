"""ONNX models read from a file, bytes or a ModelProto."""

import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Union

import onnx
from google.protobuf.message import DecodeError
from onnx.external_data_helper import (
    load_external_data_for_model,
    load_external_data_for_tensor,
)

from irkit.core import FormatError
from irkit.frontend.onnx.encoding_errors import locate_encoding_error
from irkit.frontend.onnx.weights_in_file import WeightsInFile, keep_weights

ModelLike = Union[str, os.PathLike[str], bytes, onnx.ModelProto]


def load_model(model: ModelLike) -> onnx.ModelProto:
    """Load a model and check that it is well formed.

    Raises: FormatError if the file does not exist, is not an ONNX model or is damaged, or if its
    external data cannot be read.
    """
    loaded = model if isinstance(model, onnx.ModelProto) else _read(model)
    if not loaded.graph.output:
        raise FormatError(f"{_title(model)} is not an ONNX model: it has no outputs")
    return loaded


@contextmanager
def opened_model(model: ModelLike) -> Generator[onnx.ModelProto]:
    """Yield a model as ``load_model`` returns it, but for large weights that are in files: those
    are read when the import asks for them, until the end of the block.

    ``keep_data`` reads those that are needed afterwards. Raises: as ``load_model`` does.
    """
    path, opened = Path(), None
    if isinstance(model, (str, os.PathLike)) and hasattr(os, "preadv"):
        path = Path(model)
        with suppress(ValueError, OSError, DecodeError):  # Read in the usual way, to say why.
            opened = WeightsInFile(path)
    if opened is None:
        yield load_model(model)
        return
    with closing(opened):
        _refer_to_external(opened, path)
        if not opened.model.graph.output:
            raise FormatError(f"{_title(model)} is not an ONNX model: it has no outputs")
        yield opened.model


def _refer_to_external(opened: WeightsInFile, path: Path) -> None:
    """Refer to large weights in other files, too, and read the others."""
    for tensor in tensors_of(opened.model):
        if tensor.data_location != onnx.TensorProto.EXTERNAL or opened.knows(tensor):
            continue
        _check_beside(tensor, path)
        try:
            if not opened.refer(tensor, path.parent):
                load_external_data_for_tensor(tensor, str(path.parent))
                tensor.data_location = onnx.TensorProto.DEFAULT
                del tensor.external_data[:]
        except (onnx.checker.ValidationError, ValueError, OSError) as error:
            raise FormatError(
                f"{_title(str(path))} cannot be read as an ONNX model: {error}"
            ) from error


def keep_data(model: onnx.ModelProto) -> None:
    """Read the weights that a model has left in files, so that it can be used for longer."""
    keep_weights(tensors_of(model))


def _read(model: Union[str, os.PathLike[str], bytes]) -> onnx.ModelProto:
    try:
        if isinstance(model, bytes):
            return onnx.load_model_from_string(model)
        path = Path(model)
        if not path.is_file():
            raise FormatError(f"there is no model file {str(path)!r}")
        loaded = _without_external_data(path)
        for tensor in tensors_of(loaded):
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                _check_beside(tensor, path)
        load_external_data_for_model(loaded, str(path.parent))
        return loaded
    except DecodeError as error:
        data = model if isinstance(model, bytes) else Path(model).read_bytes()
        place = locate_encoding_error(data)
        raise FormatError(
            f"{_title(model)} cannot be read as an ONNX model{place or f': {error}'}"
        ) from error
    except (onnx.checker.ValidationError, ValueError, OSError) as error:
        raise FormatError(f"{_title(model)} cannot be read as an ONNX model: {error}") from error


def external_files(path: Path) -> list[str]:
    """Return the files that hold data of a model, relative to its folder, each once.

    Raises: ValueError or OSError if the model cannot be read, or names a file elsewhere.
    """
    found: dict[str, None] = {}
    try:
        for tensor in tensors_of(_without_external_data(path)):
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                _check_beside(tensor, path)
                found |= {e.value: None for e in tensor.external_data if e.key == "location"}
    except (DecodeError, FormatError) as error:
        raise ValueError(str(error)) from error
    return list(found)


def _without_external_data(path: Path) -> onnx.ModelProto:
    return onnx.load(str(path), format="protobuf", load_external_data=False)  # pyright: ignore[reportUnknownMemberType] -- onnx is not typed


def _check_beside(tensor: onnx.TensorProto, path: Path) -> None:
    """Raise FormatError unless the data of a tensor are in a file of the folder of the model."""
    found = [entry.value for entry in tensor.external_data if entry.key == "location"]
    location, folder = Path(found[0] if found else ""), path.parent.resolve()
    what = f"{str(path)!r}: the data of tensor {tensor.name!r} are in {str(location)!r}"
    if location.is_absolute() or not (folder / location).resolve().is_relative_to(folder):
        raise FormatError(
            f"{what}, outside the folder of the model",
            hint="Only files of that folder are read: save the model with its data there.",
        )
    if not (folder / location).is_file():
        raise FormatError(f"{what}, which is not a file of its folder")


def _title(model: ModelLike) -> str:
    if isinstance(model, (bytes, onnx.ModelProto)):
        return "the model"
    return repr(str(model))


def tensors_of(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield every tensor of a model: of its graphs, attributes and functions."""
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
