"""Conversion between element types and NumPy types; bf16 is that of ml_dtypes."""

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from irkit.core import DTypeError
from irkit.ir.dtype import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    DType,
    as_dtype,
)

_NUMPY: dict[DType, np.dtype[Any]] = {
    BOOL: np.dtype(np.bool_),
    I8: np.dtype(np.int8),
    I16: np.dtype(np.int16),
    I32: np.dtype(np.int32),
    I64: np.dtype(np.int64),
    U8: np.dtype(np.uint8),
    U16: np.dtype(np.uint16),
    U32: np.dtype(np.uint32),
    U64: np.dtype(np.uint64),
    F16: np.dtype(np.float16),
    F32: np.dtype(np.float32),
    F64: np.dtype(np.float64),
    BF16: np.dtype(ml_dtypes.bfloat16),
}
_IRKIT: dict[np.dtype[Any], DType] = {there: here for here, there in _NUMPY.items()}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Return the NumPy type of the elements of ``dtype``, in native byte order.

    Raises: DTypeError if neither NumPy nor ml_dtypes has such a type.
    """
    found = _NUMPY.get(dtype.element)
    if found is None:
        raise DTypeError(f"NumPy has no type for {dtype}")
    return found


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """Return the type of the elements of an array.

    Raises: DTypeError if the loop IR has no such type (complex, strings, foreign byte order).
    """
    found = _IRKIT.get(dtype)
    if found is None:
        raise DTypeError(
            f"the loop IR has no type like NumPy's {dtype}",
            hint="It has bool, int8 to int64, uint8 to uint64, float16 to float64 and bfloat16.",
        )
    return found


NARROW = frozenset(
    {
        *("int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float8_e8m0fnu"),
        *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    }
)
"""Types of ml_dtypes that only arrays at the call of a model have: a byte for each element, which
compiled code takes as u8."""


@cache
def array_type(name: str) -> np.dtype[Any]:
    """Return the NumPy type of an input or output of a model: one of irkit's, or a narrow one.

    Raises: DTypeError if there is none of this name.
    """
    return np.dtype(getattr(ml_dtypes, name)) if name in NARROW else numpy_dtype(as_dtype(name))


def bits_of(array: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array as compiled code takes it: of a narrow type the bits of each element."""
    return array.view(np.uint8) if array.dtype.name in NARROW else array


def plain_array(value: object) -> Any:
    """Return an array as one of NumPy's own class, or None if it is none.

    A memory-mapped file is an array; elements of other subclasses can mean something else.
    """
    if type(value) is np.memmap:
        return value.view(np.ndarray)
    return value if type(value) is np.ndarray else None


def read_only_hint(value: object) -> str:
    """Return what to do about a read-only array that a function writes."""
    if isinstance(value, np.memmap):
        return (
            "Map the file with mode 'r+' to change it, or 'c' to change a copy in memory; "
            "numpy.array makes a copy."
        )
    return "numpy.array makes a copy that can be written."
