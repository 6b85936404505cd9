"""Constant arrays, identified by their contents."""

import hashlib
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import FormatError
from irkit.ir import DType, from_numpy
from irkit.ir.reference import convert

_LARGE = 1 << 12
"""Bytes from which on arrays are compared without a digest."""


class AbsentData(FormatError):
    """Raised for the data of an array of which only the digest was kept."""


class ArrayData:
    """A read-only array, equal to another one of the same type, shape and bytes.

    A trace stores only the digest of a large array; then ``array`` raises AbsentData.
    """

    def __init__(self, array: NDArray[np.generic]) -> None:
        contiguous = np.ascontiguousarray(array)
        kept = contiguous.reshape(array.shape)
        if kept.flags.writeable:
            if np.may_share_memory(contiguous, array):
                kept = kept.copy()
            kept.flags.writeable = False
        self._array: NDArray[np.generic] | None = kept
        self.shape = tuple(int(dim) for dim in array.shape)
        self.dtype = kept.dtype

    @classmethod
    def absent(
        cls, digest: str, shape: tuple[int, ...], dtype: "np.dtype[np.generic]"
    ) -> "ArrayData":
        """Return a stand-in for an array of which only the digest is known."""
        made = cls.__new__(cls)
        made._array = None
        made.shape, made.dtype = shape, dtype
        made.__dict__["digest"] = digest
        return made

    @property
    def array(self) -> NDArray[np.generic]:
        if self._array is None:
            raise AbsentData(
                f"the data of constant {self.digest[:12]} was not kept",
                hint="Traces store only the digests of large arrays.",
            )
        return self._array

    @property
    def is_absent(self) -> bool:
        return self._array is None

    def fill(self, known: "ArrayData") -> None:
        """Take the missing data from an equal array."""
        assert self == known
        self._array = known.array

    @cached_property
    def digest(self) -> str:
        """SHA-256 over type, shape and bytes, in hexadecimal."""
        digest = hashlib.sha256(f"{self.dtype.str}{self.shape}".encode())
        digest.update(self.flat_bytes().data)
        return digest.hexdigest()

    def flat_bytes(self) -> NDArray[np.uint8]:
        """Return the bytes of all elements in order, without a copy."""
        return self.array.reshape(-1).view(np.uint8)

    def move_to(self, memory: NDArray[np.uint8]) -> None:
        """Copy the bytes to some memory, which nobody changes afterwards, and keep them only there.

        Units: ``memory`` has as many bytes as the array.
        """
        memory[:] = self.flat_bytes()
        memory.flags.writeable = False
        self._array = memory.view(self.dtype).reshape(self.shape)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ArrayData) or self._kind != other._kind:
            return False
        # A digest reads all bytes; arrays that differ mostly do so in the first.
        if self._is_large and not self.is_absent and not other.is_absent:
            return self.flat_bytes().data == other.flat_bytes().data
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self._kind if self._is_large else self.digest)

    @property
    def _kind(self) -> tuple[tuple[int, ...], str]:
        return self.shape, self.dtype.str

    @property
    def _is_large(self) -> bool:
        return prod(self.shape) * self.dtype.itemsize >= _LARGE


def dtype_of(array: NDArray[Any]) -> DType:
    """Return the element type of an array.

    Raises: DTypeError if irkit has no such type.
    """
    return from_numpy(array.dtype)


def cast_array(array: NDArray[Any], dtype: DType) -> NDArray[Any]:
    """Convert elements as the loop IR does: floats saturate as integers, and NaN gives 0."""
    return convert(array, dtype)
