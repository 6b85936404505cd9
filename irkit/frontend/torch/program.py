"""A program that PyTorch exported and decomposed, as plain data: what the importer reads.

Nothing here needs PyTorch. Arguments of nodes are numbers, text, None, lists, references to nodes
(``NodeRef``) and element types (``TypeName``). A dimension is a number or the text of an expression
over symbols, such as ``s31``.
"""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import FormatError, IRKitError, number_beyond_64_bits
from irkit.ir import as_dtype, numpy_dtype

VERSION = 1


class NodeRef(msgspec.Struct, frozen=True, tag="ref", tag_field="is"):
    """The result of a node, or an input."""

    name: str


class TypeName(msgspec.Struct, frozen=True, tag="dtype", tag_field="is"):
    """An element type, by irkit's name."""

    name: str


class SpecialFloat(msgspec.Struct, frozen=True, tag="float", tag_field="is"):
    """A float that JSON does not have: inf, -inf or nan."""

    text: str


Argument = Union[NodeRef, TypeName, SpecialFloat, None, bool, int, float, str, "list[Any]"]


class TorchTensor(msgspec.Struct, frozen=True):
    """Shape and element type of a tensor."""

    shape: tuple[int | str, ...]
    dtype: str


class TorchNode(msgspec.Struct, frozen=True):
    """An operator applied; ``results`` is empty for one that returns a number."""

    name: str
    target: str
    args: list[Any]
    kwargs: dict[str, Any] = {}
    results: tuple[TorchTensor, ...] = ()
    file: str = ""
    line: int = 0


class TorchInput(msgspec.Struct, frozen=True):
    """An input of the graph: from the user, or a tensor that belongs to the model."""

    name: str
    kind: Literal["user", "parameter", "buffer", "constant"]
    target: str
    type: TorchTensor


class TorchOutput(msgspec.Struct, frozen=True):
    """A result for the user, or the new value of a buffer or of an input of the user."""

    kind: Literal["user", "mutation"]
    value: Any
    target: str = ""


class TorchGraph(msgspec.Struct, frozen=True):
    """A graph inside a program, such as a side of a choice, with the graphs inside of it by the
    names of their nodes."""

    inputs: tuple[str, ...]
    nodes: tuple[TorchNode, ...]
    outputs: tuple[Any, ...]
    graphs: "dict[str, TorchGraph]" = {}


class TorchProgram(msgspec.Struct, frozen=True):
    """A whole program; ``ranges`` bounds the symbols, ``arrays`` holds the tensors of the model.

    ``sizes`` are inputs that are no tensors but symbols. ``graphs`` are those inside, by the names
    of their nodes.
    """

    inputs: tuple[TorchInput, ...]
    nodes: tuple[TorchNode, ...]
    outputs: tuple[TorchOutput, ...]
    ranges: dict[str, tuple[int, int]] = {}
    arrays: Mapping[str, NDArray[Any]] = {}
    sizes: Mapping[str, str] = {}
    graphs: Mapping[str, TorchGraph] = {}


class _StoredArray(msgspec.Struct, frozen=True):
    shape: tuple[int, ...]
    dtype: str
    data: str


class _StoredProgram(msgspec.Struct, frozen=True):
    version: int
    inputs: tuple[TorchInput, ...]
    nodes: tuple[TorchNode, ...]
    outputs: tuple[TorchOutput, ...]
    ranges: dict[str, tuple[int, int]]
    arrays: dict[str, _StoredArray]
    graphs: dict[str, TorchGraph] = {}


def save_program(program: TorchProgram, path: str | Path) -> None:
    """Write a program as JSON, with its arrays."""
    arrays = {
        name: _StoredArray(
            array.shape,
            "bool" if array.dtype.kind == "b" else str(array.dtype),
            base64.b64encode(np.ascontiguousarray(array).tobytes()).decode(),
        )
        for name, array in program.arrays.items()
    }
    stored = _StoredProgram(
        VERSION,
        program.inputs,
        program.nodes,
        program.outputs,
        program.ranges,
        arrays,
        dict(program.graphs),
    )
    Path(path).write_bytes(msgspec.json.encode(stored))


def load_program(path: str | Path) -> TorchProgram:
    """Read a program. Raises: FormatError if the file is damaged or of another version."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        stored = msgspec.json.decode(data, type=_StoredProgram)
        arrays = {name: _array(each) for name, each in stored.arrays.items()}
        large = number_beyond_64_bits(msgspec.json.decode(data))
    except (
        msgspec.DecodeError,
        ValueError,
        OverflowError,
        MemoryError,
        RecursionError,
        IRKitError,
    ) as error:
        raise FormatError(f"{path} is not a program from PyTorch: {error}") from None
    if large is not None:
        raise FormatError(f"{path} has a number of {large.bit_length()} bits; expected at most 64")
    if stored.version != VERSION:
        raise FormatError(f"{path} has version {stored.version}, expected {VERSION}")
    return TorchProgram(
        stored.inputs, stored.nodes, stored.outputs, stored.ranges, arrays, graphs=stored.graphs
    )


def _array(stored: _StoredArray) -> NDArray[Any]:
    data = base64.b64decode(stored.data, validate=True)
    dtype = numpy_dtype(as_dtype(stored.dtype))
    return np.frombuffer(data, dtype).reshape(stored.shape)


def argument(encoded: Any) -> Argument:
    """Turn an argument as JSON holds it into one with references and types."""
    if isinstance(encoded, list):
        return [argument(each) for each in encoded]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(encoded, dict):
        return msgspec.convert(encoded, NodeRef | TypeName | SpecialFloat)
    return encoded
