"""Large weights that stay in the model's file until the import asks for them.

A model of ONNX is one message: whoever reads it has the file, the message and the arrays in memory.
Here the message is read without the bytes of large weights. Each such tensor says where they are,
by a name that only this process knows, so that no model can ask for bytes of another file.

Source: Protocol Buffers, encoding; onnx.proto (ModelProto 7, GraphProto 5, TensorProto 9, 13, 14).
"""

import mmap
import os
import secrets
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

LARGE = 1 << 20
"""Bytes from which on a weight stays in the file."""
_GRAPH, _INITIALIZER, _RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION = 7, 5, 9, 13, 14
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_PREFIX = "irkit:"
_TYPES: dict[int, str] = {
    onnx.TensorProto.FLOAT: "<f4", onnx.TensorProto.DOUBLE: "<f8",
    onnx.TensorProto.FLOAT16: "<f2", onnx.TensorProto.INT8: "i1", onnx.TensorProto.UINT8: "u1",
    onnx.TensorProto.INT32: "<i4", onnx.TensorProto.INT64: "<i8",
}  # fmt: skip
"""Types whose elements are in the file as NumPy has them."""
_opened: dict[str, int] = {}
"""Descriptors of the files that are open, by name."""
_Field = tuple[int, int, int, int, int]
"""Number and kind of a field, where it begins, where its content begins, and where it ends."""


class WeightsInFile:
    """A model file that stays open: ``model`` has no bytes of large weights."""

    def __init__(self, path: Path) -> None:
        self._names: dict[Path, str] = {}
        try:
            self._name = self._open(path)
            file = _opened[self._name]
            size = os.fstat(file).st_size
            with (
                mmap.mmap(file, size, access=mmap.ACCESS_READ) as mapped,
                memoryview(mapped) as whole,
            ):
                self.model = onnx.ModelProto.FromString(self._without_weights(whole))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the files; what the import has taken stays."""
        for name in self._names.values():
            os.close(_opened.pop(name))
        self._names.clear()

    def knows(self, tensor: onnx.TensorProto) -> bool:
        """Return True if the weights of a tensor are in a file that is open."""
        return any(entry.value in self._names.values() for entry in tensor.external_data)

    def refer(self, tensor: onnx.TensorProto, folder: Path) -> bool:
        """Open the file of a folder that has the data of a tensor, for the tensor to refer to;
        return False if it is small, or not as NumPy has it."""
        place = {entry.key: entry.value for entry in tensor.external_data}
        offset, length = int(place.get("offset", "0")), int(place.get("length", "0"))
        if length < LARGE or offset < 0 or not _fits(tensor, length):
            return False
        name = self._open(folder / place["location"])
        if offset + length > os.fstat(_opened[name]).st_size:
            return False
        del tensor.external_data[:]
        for key, value in _place(name, offset, length).items():
            tensor.external_data.add(key=key, value=value)
        return True

    def _open(self, path: Path) -> str:
        if path not in self._names:
            name = _PREFIX + secrets.token_hex(16)
            _opened[name] = os.open(path, os.O_RDONLY)
            self._names[path] = name
        return self._names[path]

    def _without_weights(self, whole: memoryview) -> bytes:
        made = bytearray()
        for number, kind, begin, inside, end in _fields(whole, 0, len(whole)):
            if (number, kind) != (_GRAPH, _BYTES):
                made += whole[begin:end]
                continue
            graph = bytearray()
            for row in _fields(whole, inside, end):
                large = row[:2] == (_INITIALIZER, _BYTES) and row[4] - row[3] >= LARGE
                graph += self._tensor(whole, row) if large else whole[row[2] : row[4]]
            made += _message(_GRAPH, bytes(graph))
        return bytes(made)

    def _tensor(self, whole: memoryview, field: _Field) -> bytes | memoryview:
        """Return a tensor without its bytes, or as it is, if that is not possible."""
        raw, rest = None, bytearray()
        for number, kind, begin, inside, end in _fields(whole, field[3], field[4]):
            if (number, kind) == (_RAW_DATA, _BYTES) and raw is None:
                raw = inside, end - inside
            else:
                rest += whole[begin:end]
        read = onnx.TensorProto.FromString(bytes(rest))
        is_here = not read.external_data and read.data_location == onnx.TensorProto.DEFAULT
        if raw is None or raw[1] < LARGE or not is_here or not _fits(read, raw[1]):
            return whole[field[2] : field[4]]
        for key, value in _place(self._name, *raw).items():
            pair = _message(1, key.encode()) + _message(2, value.encode())
            rest += _message(_EXTERNAL_DATA, pair)
        rest += _varint(_DATA_LOCATION << 3) + _varint(onnx.TensorProto.EXTERNAL)
        return _message(_INITIALIZER, bytes(rest))


def weights_of(tensor: onnx.TensorProto) -> NDArray[Any] | None:
    """Return the weights of a tensor that are in an open file; None for any other tensor."""
    place = {entry.key: entry.value for entry in tensor.external_data}
    file = _opened.get(place.get("location", ""))
    if file is None:
        return None
    # Memory of its own goes back to the system when the array is no longer used.
    memory = mmap.mmap(-1, int(place["length"]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    made = np.frombuffer(memory, _TYPES[tensor.data_type]).reshape(tuple(tensor.dims))
    room, at = made.reshape(-1).view(np.uint8).data, int(place["offset"])
    while room:
        count = os.preadv(file, [room], at)
        if count == 0:
            raise OSError("the file has become shorter")
        room, at = room[count:], at + count
    made.flags.writeable = False  # So who keeps it needs no copy.
    return made


def keep_weights(tensors: Iterator[onnx.TensorProto]) -> None:
    """Read what tensors have left in open files, for a model that is kept."""
    for tensor in tensors:
        found = weights_of(tensor)
        if found is not None:
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            tensor.raw_data = found.tobytes()


def _place(name: str, offset: int, length: int) -> dict[str, str]:
    return {"location": name, "offset": str(offset), "length": str(length)}


def _fits(tensor: onnx.TensorProto, size: int) -> bool:
    """Return True if so many bytes are the elements of a tensor as NumPy has them."""
    kind = _TYPES.get(tensor.data_type)
    if kind is None or min(tensor.dims, default=1) < 0:
        return False
    return prod(tensor.dims) * np.dtype(kind).itemsize == size


def _fields(data: memoryview, at: int, end: int) -> Iterator[_Field]:
    """Yield the fields of a message. Raises: ValueError if it is damaged."""
    while at < end:
        begin = at
        tag, at = _read_varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        inside = at
        if kind == _VARINT:
            _, at = _read_varint(data, at, end)
        elif kind == _BYTES:
            size, inside = _read_varint(data, at, end)
            at = inside + size
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"a field has the unknown kind {kind}")
        if at > end:
            raise ValueError("a field reaches past the end of its message")
        yield number, kind, begin, inside, at


def _read_varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("a number has no end")


def _varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content
