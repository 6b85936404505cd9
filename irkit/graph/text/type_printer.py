"""Print types and constant arrays of the graph IR."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError
from irkit.graph.arrays import ArrayData
from irkit.graph.types import FuncType, TensorType, TupleType, Type
from irkit.ir import Expr, float_literal

INLINE = 16
"""The most elements of an array that is printed in full."""
MAX_TYPE_DEPTH = 50


def type_text(kind: Type, extent: Callable[[Expr], str], depth: int = 0) -> str:
    """Return a type as text: ``f32[n, 3]``, ``(f32[4], i64[()])``, ``func((f32[4],), f32[4])``.

    ``extent`` prints one dimension.

    Raises: IRKitError if it is nested too deeply for a line.
    """
    if depth > MAX_TYPE_DEPTH:
        raise IRKitError(f"a type is nested more than {MAX_TYPE_DEPTH} deep, too deep to print")
    match kind:
        case TensorType(shape, dtype):
            return f"{dtype}[{', '.join([extent(dim) for dim in shape]) or '()'}]"
        case TupleType(items):
            return sequence([type_text(item, extent, depth + 1) for item in items])
        case FuncType(params, result):
            wanted = sequence([type_text(param, extent, depth + 1) for param in params])
            return f"func({wanted}, {type_text(result, extent, depth + 1)})"
        case _:
            raise AssertionError(f"no printed form for {type(kind).__name__}")


def sequence(items: list[str]) -> str:
    """Return a Python tuple as text."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def constant_text(data: ArrayData) -> str:
    """Return a small array exactly, a large one by its digest."""
    if data.is_absent or data.array.size > INLINE:
        return f'constant(digest="{data.digest}")'
    array = data.array
    if _is_plain(array):
        return f"constant([{', '.join([_number(item) for item in array.ravel()])}])"
    little = array.astype(array.dtype.newbyteorder("<"))
    return f'constant(bytes="{little.tobytes().hex()}")'


def _is_plain(array: NDArray[Any]) -> bool:
    """Return True if a round trip through Python floats keeps every bit; a NaN can become quiet."""
    if array.dtype.kind in "iub":
        return True
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64).astype(array.dtype).tobytes() == array.tobytes()


def _number(item: Any) -> str:
    """Return one element as text, in short form if that reads back as the same."""
    if item.dtype.kind in "iub":
        return str(item)
    wide = float(item)
    if np.isfinite(wide):
        short = repr(float(str(item)))
        if item.dtype.type(float(short)).tobytes() == item.tobytes():
            return short
    return float_literal(wide)
