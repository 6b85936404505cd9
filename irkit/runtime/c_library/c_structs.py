"""The structs of a model's C interface, as its header declares them."""

import ctypes
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from irkit.core import IRKitError

VERSION = 4
"""The version of the interface that this module knows."""
CPU = 1
_DTYPES: Mapping[tuple[int, int], str] = MappingProxyType({
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"f{bits}" for bits in (16, 32, 64)},
    (4, 16): "bf16",
    (6, 8): "bool",
})  # fmt: skip


class Device(ctypes.Structure):
    """Where memory is; the CPU is of type 1."""

    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class DataType(ctypes.Structure):
    """The type of elements, as DLPack numbers it."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))

    @property
    def text(self) -> str:
        """Return the type as IR text spells it. Raises: IRKitError if it has none."""
        code, bits = int(self.code), int(self.bits)
        if (code, bits) not in _DTYPES or int(self.lanes) != 1:
            raise IRKitError(
                f"DLPack's type with code {code} and {bits} bits is not one of irkit's"
            )
        return _DTYPES[code, bits]


class DLTensor(ctypes.Structure):
    """A tensor in memory of the caller: DLPack's DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Described(ctypes.Structure):
    """An input or output of a model; an extent is -1 where its symbol says what decides it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("dtype", DataType),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("symbols", ctypes.POINTER(ctypes.c_char_p)),
    )


class Dim(ctypes.Structure):
    """A dimension that a call decides, and its range."""

    _fields_ = (("name", ctypes.c_char_p), ("least", ctypes.c_int64), ("most", ctypes.c_int64))


class StateRow(ctypes.Structure):
    """An input and an output in the same memory; a cache has a capacity along an axis."""

    _fields_ = (
        ("input", ctypes.c_int32),
        ("output", ctypes.c_int32),
        ("axis", ctypes.c_int32),
        ("capacity", ctypes.c_int64),
    )


Body = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
Parallel = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, Body, ctypes.c_void_p
)


class Options(ctypes.Structure):
    """How a model is made."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("version", ctypes.c_uint32),
        ("weights", ctypes.c_void_p),
        ("weights_size", ctypes.c_size_t),
        ("weights_file", ctypes.c_char_p),
        ("parallel", Parallel),
        ("parallel_context", ctypes.c_void_p),
        ("threads", ctypes.c_int32),
    )


def tensor_of(array: NDArray[Any], dtype: str) -> DLTensor:
    """Return an array as DLPack describes it, with its strides."""
    code, bits = next(key for key, text in _DTYPES.items() if text == dtype)
    rank = max(1, array.ndim)
    steps = [step // array.itemsize for step in array.strides]
    return DLTensor(
        array.ctypes.data,
        Device(CPU, 0),
        array.ndim,
        DataType(code, bits, 1),
        (ctypes.c_int64 * rank)(*array.shape),
        (ctypes.c_int64 * rank)(*steps),
        0,
    )


def pointers_to(tensors: Sequence[DLTensor]) -> Any:
    """Return a table of pointers to tensors."""
    kind = ctypes.POINTER(DLTensor)
    return (kind * max(1, len(tensors)))(*(ctypes.pointer(each) for each in tensors))
