"""The place of an error in an encoded model, which Protobuf itself does not report."""

from typing import Any, NamedTuple

import onnx

from irkit.frontend.onnx.limits import MAX_FIELDS, MAX_NESTING

_SINGLE = frozenset({"graph", "type", "tensor_type", "shape", "t", "g"})
_VARINT, _FIXED64, _BYTES, _BEGIN_GROUP, _END_GROUP, _FIXED32 = range(6)


class _OpenMessage(NamedTuple):
    """A message that is being read: its type, its end, and its path from the model."""

    kind: Any
    """The descriptor of its type, whose class depends on how Protobuf is built."""
    end: int
    path: str


class _EncodingError(Exception):
    """An error in the encoding, at the byte that the walk has reached."""


def locate_encoding_error(data: bytes) -> str:
    """Return the byte and the field at which a model cannot be read; "" if there is none."""
    walk = _Walk(data)
    try:
        walk.run()
    except _EncodingError as found:
        return f" at byte {walk.at}, in {walk.open[-1].path}: {found}"
    return ""


class _Walk:
    """Walk over the fields in order, with a list of the messages that are open."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.open = [_OpenMessage(onnx.ModelProto.DESCRIPTOR, len(data), "the model")]
        self.counts: list[dict[str, int]] = [{}]

    def run(self) -> None:
        for _ in range(MAX_FIELDS):
            while self.open and self.at >= self.open[-1].end:
                if len(self.open) == 1:
                    return
                self.open.pop()
                self.counts.pop()
            begin = self.at
            tag = self._varint()
            number, wire = tag >> 3, tag & 7
            if not number or wire > _FIXED32:
                self.at = begin
                raise _EncodingError(f"{tag} is not the tag of a field")
            self._field(number, wire)

    def _field(self, number: int, wire: int) -> None:
        if wire == _VARINT:
            self._varint()
        elif wire in (_FIXED32, _FIXED64):
            self._skip(4 if wire == _FIXED32 else 8)
        elif wire == _BYTES:
            self._bytes(number)
        else:
            raise _EncodingError("a group, which models do not have")

    def _bytes(self, number: int) -> None:
        size = self._varint()
        here = self.open[-1]
        field = here.kind.fields_by_number.get(number) if here.kind is not None else None
        if self.at + size > here.end:
            left = here.end - self.at
            raise _EncodingError(
                f"{_title(field, number)} should have {size} bytes, but {left} follow"
            )
        if field is None or field.message_type is None:
            self.at += size
            return
        count = self.counts[-1].setdefault(field.name, 0)
        self.counts[-1][field.name] = count + 1
        name = field.name if field.name in _SINGLE else f"{field.name}[{count}]"
        path = name if len(self.open) == 1 else f"{here.path}.{name}"
        if len(self.open) >= MAX_NESTING:
            raise _EncodingError(f"messages are nested more than {MAX_NESTING} deep")
        self.open.append(_OpenMessage(field.message_type, self.at + size, path))
        self.counts.append({})

    def _skip(self, size: int) -> None:
        if self.at + size > self.open[-1].end:
            raise _EncodingError("it ends inside a number")
        self.at += size

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            if self.at >= self.open[-1].end:
                raise _EncodingError("it ends inside a number")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise _EncodingError("a number of more than ten bytes")


def _title(field: Any, number: int) -> str:
    return f"field {field.name!r}" if field is not None else f"field {number}"
