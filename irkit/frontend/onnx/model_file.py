"""ONNX models read from a file, bytes or a ModelProto."""

import os
from pathlib import Path
from typing import Union

import onnx
from google.protobuf.message import DecodeError

from irkit.core import FormatError
from irkit.frontend.onnx.encoding_errors import locate_encoding_error

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


def _read(model: Union[str, os.PathLike[str], bytes]) -> onnx.ModelProto:
    try:
        if isinstance(model, bytes):
            return onnx.load_model_from_string(model)
        path = Path(model)
        if not path.is_file():
            raise FormatError(f"there is no model file {str(path)!r}")
        return onnx.load(str(path), format="protobuf")  # pyright: ignore[reportUnknownMemberType]
    except DecodeError as error:
        data = model if isinstance(model, bytes) else Path(model).read_bytes()
        place = locate_encoding_error(data)
        raise FormatError(
            f"{_title(model)} cannot be read as an ONNX model{place or f': {error}'}"
        ) from error
    except (onnx.checker.ValidationError, ValueError, OSError) as error:
        raise FormatError(f"{_title(model)} cannot be read as an ONNX model: {error}") from error


def _title(model: ModelLike) -> str:
    if isinstance(model, (bytes, onnx.ModelProto)):
        return "the model"
    return repr(str(model))
