"""Constant arrays in trace files: small ones in full, large ones by digest only."""

import math
import re
from functools import partial
from typing import Any, cast

import numpy as np

from irkit.core import Codec
from irkit.graph.arrays import ArrayData, dtype_of
from irkit.ir import dtype, numpy_dtype

MAX_INLINE = 1024
"""Of an array in a trace file; of a larger one it has the digest only. Units: bytes."""
MAX_WHOLE = 1 << 30
"""Of an array in a file that is run later, and so needs the data. Units: bytes."""
MAX_RANK = 32  # Supported by every version of NumPy.
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


def _pack(data: ArrayData, most: int = MAX_INLINE) -> list[Any]:
    element = data.dtype if data.is_absent else data.array.dtype
    small = not data.is_absent and data.array.nbytes <= most
    kept = data.array.tobytes() if small else None
    return [str(dtype_of(np.empty((), element))), list(data.shape), data.digest, kept]


def _unpack(packed: Any, most: int = MAX_INLINE) -> ArrayData:
    match packed:
        case [str() as name, list(), str() as digest, (bytes() | None) as kept]:
            shape = tuple(cast(list[Any], packed[1]))
        case _:
            raise ValueError("an array is not a list of type, shape, digest and data")
    if len(shape) > MAX_RANK or not all(
        dim.__class__ is int and 0 <= dim < 1 << 63 for dim in shape
    ):
        raise ValueError(f"the shape of an array must be up to {MAX_RANK} sizes")
    if not _DIGEST.match(digest):
        raise ValueError("the digest of an array must be 64 hexadecimal digits")
    element = numpy_dtype(dtype(name))
    if kept is None:
        return ArrayData.absent(digest, shape, element)
    if len(kept) > most or len(kept) != math.prod(shape) * element.itemsize:
        raise ValueError("the size of an array does not match its shape")
    if element.kind == "b" and max(kept, default=0) > 1:
        raise ValueError("a bool is neither 0 nor 1")
    return ArrayData(np.frombuffer(kept, element).reshape(shape))


ARRAY_CODEC = Codec("array", ArrayData, _pack, _unpack)


def whole_array_codec(most: int) -> Codec:
    """Return a codec that stores arrays up to a size (bytes) in full, for files that are run
    later."""
    return Codec("array", ArrayData, partial(_pack, most=most), partial(_unpack, most=most))
