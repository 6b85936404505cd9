"""Arrays of NumPy in memory: what the stubs expect of them, and copies with given strides."""

import struct
from ctypes import c_size_t, string_at
from typing import Any

import numpy as np

from irkit.codegen import NUMPY_NUMBERS, array_fields
from irkit.core import IRKitError


def check_numpy_layout() -> None:
    """Compare the fields of an array, read from memory, with what NumPy reports.

    Raises: IRKitError if this NumPy lays arrays out differently.
    """
    sample = np.zeros((3, 5), "f8")[:, 1:3]
    known: dict[str, object] = {
        "type": id(np.ndarray),
        "data": sample.ctypes.data,
        "ndim": 2,
        "dtype": id(sample.dtype),
        "flags": sample.flags.num,
        "byteorder": b"=",
        "num": sample.dtype.num,
    }
    for name, expected in known.items():
        offset, code = array_fields()[name]
        at = id(sample.dtype) if name in ("byteorder", "num") else id(sample)
        _compare(name, _read(at + offset, code), expected)
    for name in ("shape", "strides"):
        table = _read(id(sample) + array_fields()[name][0], "n")
        found = struct.unpack("2n", string_at(table, 16))
        _compare(name, found, getattr(sample, name))
    for name, numbers in NUMPY_NUMBERS.items():
        code = "?" if name == "bool" else f"{name[0]}{int(name[1:]) // 8}"
        _compare(name, np.dtype(code).num in numbers, True)


DATA = array_fields()["data"][0]
"""Where an array has the address of its first element. Units: bytes from the array itself."""


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Return the address of the first element, a quarter of the time that ``ctypes.data`` takes."""
    return c_size_t.from_address(id(array) + DATA).value


def _read(address: int, code: str) -> Any:
    return struct.unpack(code, string_at(address, struct.calcsize(code)))[0]


def _compare(name: str, found: object, expected: object) -> None:
    if found != expected:
        raise IRKitError(
            f"NumPy {np.__version__} lays arrays out differently: {name!r} is {found}, "
            f"expected {expected}"
        )


def with_strides(values: np.ndarray[Any, Any], strides: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Copy an array into memory of its own, with these strides. Units: bytes."""
    if not values.size:
        return values.copy()
    ends = [(count - 1) * step for count, step in zip(values.shape, strides, strict=True)]
    first = -sum(end for end in ends if end < 0)
    room = np.zeros(first + sum(end for end in ends if end > 0) + values.itemsize, np.uint8)
    made = np.ndarray(values.shape, values.dtype, room.data, first, strides)
    made[...] = values
    return made
