"""Tensors in the memory of a device, by DLPack: where they lie, without a copy.

A tensor is shown as a NumPy array over its addresses, so that the checks of a call judge its type,
shape, strides and overlap as those of any array. Nothing may read such an array.
"""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import DTypeError, ShapeError
from irkit.ir import BF16, BOOL, Buffer, DType, PrimFunc, dtype as as_dtype, numpy_dtype
from irkit.runtime.call import Explanation

CUDA_KINDS = (2, 13)
"""DLPack's numbers of memory that kernels of CUDA reach: the device's, and managed memory."""
_HOST_OF_CUDA = 13  # The processor reaches it too.
_READ_ONLY = 1
_LETTERS = {0: "i", 1: "u", 2: "f"}


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLPack's DLManagedTensorVersioned, since 1.0."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


class DeviceTensor(msgspec.Struct, frozen=True):
    """A tensor of a device while a call uses it: its address, an array that shows where it lies,
    and the capsule that keeps its memory."""

    address: int
    shown: Any
    capsule: Any


def device_tensors(
    func: PrimFunc, args: Sequence[Any], number: int, stream: int
) -> Mapping[int, DeviceTensor]:
    """Return the arguments of a call that are tensors of CUDA's memory, by their places; nothing if
    all are memory of the processor.

    ``number`` is that of the device of the kernels. Each tensor is asked to be ready for what
    follows on ``stream``, a number as DLPack has them for CUDA.
    Raises: DTypeError if a tensor is on another device, or only some are on the device.
    """
    words, buffers = Explanation(func, ()), list[int]()
    kinds = dict[int, tuple[int, int]]()
    for place, param in enumerate(func.params):
        if isinstance(param, Buffer):
            buffers.append(place)
            kind = _device_of(args[place], words.label(place))
            if kind is not None and kind[0] in CUDA_KINDS:
                kinds[place] = kind
    if all(kind == _HOST_OF_CUDA for kind, _ in kinds.values()):
        return {}
    there = next(place for place, (kind, _) in kinds.items() if kind != _HOST_OF_CUDA)
    for place in buffers:
        if place not in kinds:
            raise DTypeError(
                f"{words.label(there)} is in memory of the device, and {words.label(place)} is "
                "not; expected all tensors of a call on the device, or none",
                hint="Copy the others to the device first.",
            )
        if kinds[place][1] != number:
            raise DTypeError(
                f"{words.label(place)} is on device CUDA {kinds[place][1]}; expected CUDA {number}",
                hint="Copy it to the first device.",
            )
    return {place: _taken(args[place], stream, words.label(place)) for place in buffers}


def _device_of(value: Any, label: str) -> tuple[int, int] | None:
    """Return DLPack's kind and number of a tensor's device; None if it is no tensor."""
    if isinstance(value, (np.ndarray, np.generic)) or not hasattr(value, "__dlpack__"):
        return None
    try:
        kind, number = value.__dlpack_device__()
        return int(kind), int(number)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise DTypeError(f"{label} cannot be read through DLPack: {error}") from error


def _taken(value: Any, stream: int, label: str) -> DeviceTensor:
    try:
        try:
            capsule = value.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:  # DLPack before 1.0.
            capsule = value.__dlpack__(stream=stream)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise DTypeError(f"{label} cannot be read through DLPack: {error}") from error
    tensor, read_only = _opened(capsule, label)
    dtype = _dtype(tensor, label)
    address = (tensor.data or 0) + tensor.byte_offset
    shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
    steps = _strides(tensor, shape)
    if min(steps, default=0) < 0:
        raise ShapeError(
            f"{label} has strides {steps}; expected none that is negative",
            hint="A contiguous copy has none.",
        )
    shown = _shown(address, shape, steps, numpy_dtype(dtype))
    shown.flags.writeable = not read_only
    return DeviceTensor(address, shown, capsule)


def _opened(capsule: Any, label: str) -> tuple[_Tensor, bool]:
    """Return what a capsule holds, and whether it is read-only."""
    api = ctypes.pythonapi
    named = api.PyCapsule_IsValid
    named.restype, named.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
    pointer = api.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    if named(capsule, b"dltensor_versioned"):
        made = _Versioned.from_address(pointer(capsule, b"dltensor_versioned"))
        if made.major == 1:
            return made.tensor, bool(made.flags & _READ_ONLY)
        raise DTypeError(f"{label} comes by DLPack {made.major}.{made.minor}; expected 1.x")
    if named(capsule, b"dltensor"):
        return _Tensor.from_address(pointer(capsule, b"dltensor")), False
    raise DTypeError(f"{label} gives no capsule of DLPack, found {type(capsule).__name__}")


def _dtype(tensor: _Tensor, label: str) -> DType:
    if tensor.lanes == 1:
        if tensor.code == 4 and tensor.bits == 16:
            return BF16
        if tensor.code == 6 and tensor.bits == 8:
            return BOOL
        name = f"{_LETTERS.get(tensor.code, '?')}{tensor.bits}"
        try:
            return as_dtype(name)
        except DTypeError:
            pass
    raise DTypeError(
        f"{label} has elements of DLPack's type ({tensor.code}, {tensor.bits} bits, {tensor.lanes} "
        "lanes), which irkit lacks"
    )


def _strides(tensor: _Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return strides in elements; those of an empty tensor and of one element mean nothing."""
    if tensor.strides and 0 not in shape:
        return tuple(tensor.strides[axis] for axis in range(tensor.rank))
    steps, step = list[int](), 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def _shown(
    address: int, shape: tuple[int, ...], steps: tuple[int, ...], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if 0 in shape:
        return np.empty(shape, dtype)
    reach = 1 + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    memory: Any = (ctypes.c_char * (reach * dtype.itemsize)).from_address(address)
    strides = tuple(step * dtype.itemsize for step in steps)
    return np.ndarray(shape, dtype, memory, 0, strides)
