"""What an ONNX node says of itself: its names, and its attributes by their types."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from irkit.core import IRKitError, Span
from irkit.frontend.onnx.weights_in_file import weights_of


class ImportFailed(IRKitError):
    """A node of a model cannot be imported; the message names it."""


class UnknownShape(ImportFailed):
    """A shape depends on what is only known when the model runs.

    ``value`` is the name of the value that decides it, or "" if only a function or an inner graph
    knows that name; ``input`` is what the value is computed from, as a rule an input of the model.
    """

    input = ""
    value = ""
    is_countable = False
    """Whether the shape can be a dimension that the run finds, if the model is one program."""


class DataDependent(ImportFailed):
    """The sizes of the ``outputs`` of a node depend on data."""

    outputs: tuple[str, ...] = ()


class NodeAttributes:
    """The names and attributes of one node; ``defaults`` are those of the attributes left out."""

    def __init__(
        self, proto: onnx.NodeProto, defaults: Mapping[str, onnx.AttributeProto] | None
    ) -> None:
        self.proto = proto
        self._defaults = defaults or {}
        self._attrs = {attr.name: attr for attr in proto.attribute}

    @property
    def title(self) -> str:
        """Name of this node in messages."""
        return f"{self.proto.op_type} node {self.proto.name or self.label!r}"

    @property
    def label(self) -> str:
        """Name of the values made by this node: that of its first output."""
        return next((name for name in self.proto.output if name), self.proto.op_type.lower())

    @property
    def span(self) -> Span:
        return Span("onnx", self.proto.name or ",".join(self.proto.output))

    def fail(self, message: str, hint: str = "") -> ImportFailed:
        """Return an error about this node, to be raised."""
        return ImportFailed(f"{self.title}: {message}", hint=hint, span=self.span)

    # Attributes by the types that the ONNX specification names.

    def has(self, name: str) -> bool:
        return name in self._attrs

    def integer(self, name: str, default: int | None = None) -> int:
        return int(self._get(name, onnx.AttributeProto.INT, default))

    def number(self, name: str, default: float | None = None) -> float:
        return float(self._get(name, onnx.AttributeProto.FLOAT, default))

    def text(self, name: str, default: str | None = None) -> str:
        value = self._get(name, onnx.AttributeProto.STRING, default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        values: Sequence[bytes] = self._get(name, onnx.AttributeProto.STRINGS, None)
        return tuple(value.decode("utf-8", "replace") for value in values)

    def integers(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        return tuple(int(item) for item in self._get(name, onnx.AttributeProto.INTS, default))

    def numbers(self, name: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        return tuple(map(float, self._get(name, onnx.AttributeProto.FLOATS, default)))

    def graph(self, name: str) -> onnx.GraphProto:
        return cast(onnx.GraphProto, self._get(name, onnx.AttributeProto.GRAPH, None))

    def tensor(self, name: str) -> NDArray[np.generic]:
        proto = self._get(name, onnx.AttributeProto.TENSOR, None)
        return to_array(cast(onnx.TensorProto, proto), self.title)

    def _get(self, name: str, kind: int, default: Any) -> Any:
        attr = self._attrs.get(name, self._defaults.get(name))
        if attr is None:
            if default is None:
                raise self.fail(f"attribute {name!r} is missing")
            return default
        if attr.type != kind:
            name_of = onnx.AttributeProto.AttributeType.Name
            raise self.fail(
                f"attribute {name!r} is of type {name_of(attr.type)}, expected {name_of(kind)}"
            )
        return onnx.helper.get_attribute_value(attr)


def to_array(proto: onnx.TensorProto, title: str) -> NDArray[np.generic]:
    """Return the values of a tensor.

    Raises: ImportFailed if its data do not fit its shape and type, or are in another file.
    """
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        try:
            found = weights_of(proto)
        except OSError as error:
            raise ImportFailed(f"{title}: tensor {proto.name!r} cannot be read: {error}") from error
        if found is not None:
            return found
        raise ImportFailed(
            f"{title}: the data of tensor {proto.name!r} are in another file",
            hint="Import the model by its path: the file is looked up beside it.",
        )
    try:
        array = numpy_helper.to_array(proto)
    except Exception as error:  # The library raises many kinds for damaged tensors.
        raise ImportFailed(f"{title}: tensor {proto.name!r} is damaged: {error}") from error
    if array.dtype == object:
        raise ImportFailed(
            f"{title}: tensor {proto.name!r} holds strings, which irkit does not support"
        )
    return array
