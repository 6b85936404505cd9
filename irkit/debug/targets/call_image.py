"""The arguments of a call as one piece of memory, for programs that do not share this process.

Arrays lie in it with their strides, each at a multiple of 64 bytes, with marked bytes before and
after it: whoever writes beside an array is found.
"""

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.codegen import record_size
from irkit.core import IRKitError
from irkit.debug.execution.inputs import Array
from irkit.ir import Buffer, PrimFunc, numpy_dtype, shape_vars

ALIGN = 64
_MARK = 0xA5


class ArrayPlace(msgspec.Struct, frozen=True):
    """Where an array lies. Units: bytes."""

    name: str
    offset: int
    size: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]


class CallImage(msgspec.Struct, frozen=True):
    """The arguments of one call.

    ``arguments`` are those of the function: for an array its offset, for a number its NumPy value,
    for a size an int, for the record of assertions None, which stands for a null pointer.
    """

    memory: bytes
    places: tuple[ArrayPlace, ...]
    arguments: tuple[ArrayPlace | np.generic | int | None, ...]

    def arrays(self, memory: bytes) -> tuple[Array, ...]:
        """Return the arrays in the memory that a call has left.

        Raises: IRKitError if bytes beside an array were written.
        """
        free = np.ones(len(memory), bool)
        for place in self.places:
            free[place.offset : place.offset + place.size] = False
        written = np.flatnonzero(free & (np.frombuffer(memory, np.uint8) != _MARK))
        if len(written):
            at = int(written[0])
            near = min(self.places, key=lambda each: _distance(each, at))
            raise IRKitError(f"it writes {_distance(near, at)} bytes beside {near.name!r}")
        return tuple(
            np.ndarray(place.shape, place.dtype, memory, place.offset, place.strides).copy("K")
            if place.size
            else np.zeros(place.shape, place.dtype)
            for place in self.places
        )


def call_image(func: PrimFunc, args: Sequence[Any]) -> CallImage:
    """Lay out the arguments of a call."""
    memory = bytearray([_MARK] * ALIGN)
    places = list[ArrayPlace]()
    given = list[ArrayPlace | np.generic | int | None]()
    for param, arg in zip(func.params, args, strict=True):
        if not isinstance(param, Buffer):
            given.append(numpy_dtype(param.dtype).type(arg))
            continue
        array = np.asarray(arg)
        data = _bytes_of(array)
        place = ArrayPlace(
            param.name, len(memory), len(data), array.shape, array.strides, array.dtype
        )
        memory += data
        memory += bytes([_MARK] * (ALIGN + -len(memory) % ALIGN))
        places.append(place)
        given.append(place)
    given += list(_sizes(func, args))
    given += [None] * bool(record_size(func))
    return CallImage(bytes(memory), tuple(places), tuple(given))


def _sizes(func: PrimFunc, args: Sequence[Any]) -> Iterator[int]:
    """Yield the values of the variables that shapes and strides name."""
    known: dict[int, int] = {}
    for param, arg in zip(func.params, args, strict=True):
        if isinstance(param, Buffer):
            array = np.asarray(arg)
            steps = [step // array.itemsize for step in array.strides]
            dims = (*param.shape, *(param.strides or ()))
            for dim, size in zip(dims, (*array.shape, *steps), strict=False):
                known.setdefault(id(dim), size)
    return (known[id(var)] for var in shape_vars(func))


def _bytes_of(array: Array) -> bytes:
    """Return the memory from the first to the last element of an array."""
    if not array.size:
        return b""
    last = sum((size - 1) * step for size, step in zip(array.shape, array.strides, strict=True))
    return ctypes.string_at(array.ctypes.data, last + array.itemsize)


def _distance(place: ArrayPlace, at: int) -> int:
    end = place.offset + place.size
    return place.offset - at if at < place.offset else at - end + 1
