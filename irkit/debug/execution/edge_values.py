"""The values at which arithmetic may go wrong: limits, powers of two, constants and neighbours.

What matters most comes first: whoever has room for a few values takes those at the front.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import Node, children, walk
from irkit.ir import Buffer, Const, DType, Expr, For, Load, PrimFunc, Store, as_int, numpy_dtype

Array = NDArray[Any]
PER_CONSTANT = 6
"""Values at and around a constant, at most."""
_MOST_CONSTANTS = 24
# Whole numbers that f32, f64, f16 and bf16 do not hold, or that two roundings treat unlike one.
_UNEVEN = (2**24 + 1, 2**53 + 1, 2**54 + 2**30 + 1, 2**11 + 1, 2**8 + 1, 2**25 + 2**13 + 1)
# Ties of rounding to whole numbers and to narrower types; small fractions; large numbers.
_FRACTIONS = (
    *(0.5, 1.5, 2.5, 1e-3, 1e-8, 0.1, 3.0, 1e9, 2.0, 0.05, 90.0, 1e-5, 10.0, 1e4, 1e30, 0.75),
    *(1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-23, 1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-23, 1e-20, 1e18),
    *(1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 1 + 2.0**-11 + 2.0**-40, 1e-12, 1e-38, 65519.0),
    *(65520.0, 2.0**-14, 2.0**-24, 2.0**-25, 3.0 * 2.0**-26, 1.5707963267948966, 3.1415927, 1e5),
)


class Edges(msgspec.Struct, frozen=True):
    """What decides the edges of a step: its constants, the ones that it brings or removes first,
    and the integer types that occur. The first ``fresh`` constants are those of the step."""

    constants: tuple[int | float, ...] = ()
    widths: tuple[DType, ...] = ()
    fresh: int = 0


NO_EDGES = Edges()


def edges_of(versions: Sequence[PrimFunc], known: frozenset[int | float] = frozenset()) -> Edges:
    """Return the edges of versions of one function; constants that only some of them have come
    first, without those that are ``known``."""
    each = [_constants(func) for func in versions]
    everywhere = set(each[0]).intersection(*each)
    new = {
        key: value
        for found in each
        for key, value in found.items()
        if key not in everywhere and value not in known
    }
    old = {key: value for found in each for key, value in found.items() if key not in new}
    listed = [value for _, value in (*sorted(new.items()), *sorted(old.items()))]
    types = {node.dtype.element for func in versions for node in walk(func, Expr)}
    widths = sorted((t for t in types if t.is_integer), key=str)
    return Edges(tuple(dict.fromkeys(listed)), tuple(widths), len(set(new.values())))


def _constants(func: PrimFunc) -> dict[str, int | float]:
    found = {f"{c.dtype} {c.value!r}": c.value for c in walk(func, Const) if not c.dtype.is_bool}
    for param in func.params:
        for dim in param.shape if isinstance(param, Buffer) else ():
            size = as_int(dim)
            if size is not None:
                found[f"size {size!r}"] = size
    return found


def index_types(func: PrimFunc) -> set[DType]:
    """Return the integer types in which indices and loops count."""
    found: set[DType] = set()
    seen: set[int] = set()
    todo: list[Node] = []
    for node in walk(func, (For, Load, Store)):
        if isinstance(node, For):
            found.add(node.var.dtype)
        else:
            todo += node.indices
    while todo:
        node = todo.pop()
        if id(node) not in seen and isinstance(node, Expr):
            seen.add(id(node))
            found.add(node.dtype.element)
            todo += children(node)
    return {dtype for dtype in found if dtype.is_integer}


def integer_edges(dtype: DType, edges: Edges = NO_EDGES) -> Array:
    """Return the values of an integer type at which arithmetic may go wrong."""
    low, high = dtype.low, dtype.high
    wanted = [0, 1, -1, low, high]
    for c in edges.constants[:_MOST_CONSTANTS]:
        if np.isfinite(c):
            wanted += [int(c), int(c) - 1, int(c) + 1, -int(c)]
    wanted += [2, low + 1, high - 1, -2]
    for other in edges.widths:
        if other != dtype:
            wanted += [other.low, other.high, other.low - 1, other.high + 1]
    wanted += [3, 7, -3, -7, 5, *(sign * n for n in _UNEVEN for sign in (1, -1))]
    for bit in reversed(range(dtype.bits)):
        wanted += [(1 << bit) + d for d in (-1, 0, 1)] + [d - (1 << bit) for d in (0, 1, -1)]
    return np.array([v for v in dict.fromkeys(wanted) if low <= v <= high], numpy_dtype(dtype))


def float_edges(dtype: DType, edges: Edges = NO_EDGES) -> Array:
    """Return the values of a float type at which arithmetic may go wrong, infinities and NaN
    too."""
    kind = numpy_dtype(dtype)
    largest, tiniest, normal, below_one = _limits(kind)
    wanted: list[Any] = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]
    for c in edges.constants[:_MOST_CONSTANTS]:
        wanted += [*_around(c, dtype), -c, c + 1.0, c - 1.0]
    wanted += [largest, -largest, tiniest, -tiniest, normal, below_one]
    wanted += [sign * each for each in _FRACTIONS for sign in (1, -1)]
    for width in edges.widths:
        wanted += [each for limit in (width.low, width.high) for each in _around(limit, dtype)]
        wanted += [width.high + 0.5, width.low - 0.5, width.high + 1.0, width.low - 1.0]
    wanted += [sign * float(n) for n in _UNEVEN for sign in (1, -1)]
    wanted += [sign * 2.0**k for k in (-10, -1, 2, 4, 10, 16, 31, 53, 63) for sign in (1, -1)]
    with np.errstate(all="ignore"):
        values = np.array(wanted, np.float64).astype(kind)
    _, first = np.unique(values.view(f"u{kind.itemsize}"), return_index=True)
    return values[np.sort(first)]


def _around(value: float, dtype: DType) -> Iterable[float]:
    """Return a number and its neighbours in a type, as f64."""
    with np.errstate(all="ignore"):
        kind = numpy_dtype(dtype)
        exact = np.asarray(float(value)).astype(kind)
        ends = [np.asarray(side * np.inf).astype(kind) for side in (-1, 1)]
        return [float(each) for each in (exact, *(np.nextafter(exact, end) for end in ends))]


def _limits(kind: np.dtype[Any]) -> tuple[float, ...]:
    """Return the largest, the smallest and the smallest normal value of a float type, and the one
    below 1."""
    bits = f"u{kind.itemsize}"

    def of(number: int) -> float:
        return float(np.asarray(number).astype(bits).view(kind))

    def bits_of(value: float) -> int:
        return int(np.asarray(value).astype(kind).view(bits))

    normal = {"float16": 1 << 10, "bfloat16": 1 << 7, "float32": 1 << 23, "float64": 1 << 52}
    return of(bits_of(np.inf) - 1), of(1), of(normal[kind.name]), of(bits_of(1.0) - 1)
