"""What candidates run on, and how exactly their results must agree.

Whole numbers from -4 to 4 make sums of products exact in any order, so every candidate has to give
the same bits. Fractions then differ by rounding alone. Smaller whole numbers are drawn where sums
would grow too large.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.codegen import written_buffers
from irkit.core import Node, walk
from irkit.ir import (
    Add,
    Block,
    Broadcast,
    Buffer,
    Cast,
    Const,
    Expr,
    Load,
    Max,
    Min,
    Mul,
    Neg,
    PrimFunc,
    Select,
    Store,
    Sub,
    as_int,
    numpy_dtype,
)

Kind = Literal["whole", "fractions"]
_WHOLE = (4, 2, 1)
_INDICES = 3
"""Integers may be indices, which must be inside of most dimensions."""
_DIGITS = {8: 53, 4: 24, 2: 8}
"""Bits of a float's digits by its size in bytes; of the two types of two bytes, the fewer."""
_ROUNDINGS = 8.0


class Agreement(msgspec.Struct, frozen=True):
    """How a result agrees with the reference: a verdict, and what is wrong."""

    ok: bool
    nan: bool = False
    message: str = ""


def largest_whole(func: PrimFunc) -> int:
    """Return the largest of the numbers 4, 2 and 1 for which whole inputs up to it make every value
    exact; 0 if there is none, or if the function does more than add, multiply and compare."""
    return next((each for each in _WHOLE if _is_exact(func, each)), 0)


def draw(func: PrimFunc, kind: Kind, whole: int, seed: int) -> list[NDArray[Any]]:
    """Return an array for each parameter. Integers are small and not negative."""
    rng = np.random.default_rng((seed, kind == "whole"))
    made: list[NDArray[Any]] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = tuple(as_int(dim) or 0 for dim in param.shape)
        dtype = numpy_dtype(param.dtype)
        if not param.dtype.is_float:
            most = 1 if dtype == np.bool_ else _INDICES
            values: NDArray[Any] = rng.integers(0, most, shape, endpoint=True)
        elif kind == "whole":
            values = rng.integers(-max(whole, 1), max(whole, 1), shape, endpoint=True)
        else:
            values = rng.random(shape) * 2 - 1
        made.append(values.astype(dtype))
    return made


def outputs_of(func: PrimFunc) -> list[int]:
    """Return the positions of the parameters that a function writes."""
    written = written_buffers(func)
    return [at for at, param in enumerate(func.params) if param in written]


def agree(
    func: PrimFunc,
    expected: Sequence[NDArray[Any]],
    found: Sequence[NDArray[Any]],
    *,
    exactly: bool,
    steps: int,
) -> Agreement:
    """Compare results: floats that need not be exact within what ``steps`` additions can round."""
    for at, (want, got) in enumerate(zip(expected, found, strict=True)):
        name = func.params[outputs_of(func)[at]].name
        if want.tobytes() == got.tobytes():
            continue
        wide, other = want.astype(np.float64), got.astype(np.float64)
        with np.errstate(all="ignore"):
            lost = np.isnan(other) & ~np.isnan(wide)
            if lost.any():
                return Agreement(False, True, f"{name!r} has {int(lost.sum())} NaN")
            apart = np.abs(wide - other)
            allowed = 0.0
            if not exactly and want.dtype.kind not in "biu":
                allowed = _allowed(wide, want.dtype, steps)
            bad = ~((apart <= allowed) | (np.isnan(wide) & np.isnan(other)) | (wide == other))
        if bad.any():
            place = tuple(int(each) for each in np.argwhere(bad)[0])
            return Agreement(
                False,
                False,
                f"{name!r} is {other[place]:g} at {list(place)}, expected {wide[place]:g}: "
                f"{int(bad.sum())} of {bad.size} elements differ",
            )
    return Agreement(True)


def _allowed(wide: NDArray[Any], dtype: np.dtype[Any], steps: int) -> NDArray[Any]:
    """Return how far results may be apart: in the sum of ``steps`` terms each of a size up to about
    one, rounded in another order, and relative to the result."""
    digits = _DIGITS.get(dtype.itemsize, 24)
    unit = 2.0 ** (1 - digits)
    scale = np.abs(wide) + math.sqrt(max(steps, 1)) + np.abs(wide[np.isfinite(wide)]).max(initial=0)
    return unit * (_ROUNDINGS + math.sqrt(max(steps, 1))) * scale


def reduction_steps(func: PrimFunc) -> int:
    """Return the steps of all reductions of a function, one after the other."""
    total = 1
    for block in walk(func, on=Block):
        sizes = [as_int(axis.extent) or 1 for axis in block.axes if axis.kind == "reduce"]
        total += math.prod(sizes) if sizes else 0
    return total


def _is_exact(func: PrimFunc, whole: int) -> bool:
    """Return True if no value of any float buffer can need more digits than it has."""
    sizes: dict[Node, float] = {}
    for param in func.params:
        if isinstance(param, Buffer):
            sizes[param] = whole if param.dtype.is_float else _INDICES
    for block in walk(func, on=Block):
        steps = math.prod(as_int(axis.extent) or 1 for axis in block.axes if axis.kind == "reduce")
        for store in walk(block.body, on=Store):
            size = _size(store.value, store.buffer, sizes)
            if size is None:
                return False
            size *= steps if block.init is not None else 1
            known = sizes.get(store.buffer, 0.0)
            sizes[store.buffer] = max(known if store.buffer not in func.params else 0.0, size)
            digits = _DIGITS.get(store.buffer.dtype.bytes, 24)
            if store.buffer.dtype.is_float and size > 2.0**digits:
                return False
    return True


def _size(expr: Expr, own: Buffer, sizes: dict[Node, float]) -> float | None:
    """Return how large the value of an expression can be; None if it may be a fraction. What is
    stored so far counts as nothing: a sum is bounded by its steps."""
    match expr:
        case Const(value):
            number = float(value)
            return abs(number) if number.is_integer() else None
        case Load(buffer):
            return 0.0 if buffer is own else sizes.get(buffer)
        case Add(a, b) | Sub(a, b):
            parts = _size(a, own, sizes), _size(b, own, sizes)
            return None if None in parts else sum(each or 0.0 for each in parts)
        case Max(a, b) | Min(a, b):
            parts = _size(a, own, sizes), _size(b, own, sizes)
            return None if None in parts else max(each or 0.0 for each in parts)
        case Mul(a, b):
            one, other = _size(a, own, sizes), _size(b, own, sizes)
            return None if one is None or other is None else one * other
        case Neg(a) | Broadcast(value=a):
            return _size(a, own, sizes)
        case Cast(a):
            return _size(a, own, sizes)
        case Select(then=a, otherwise=b):
            parts = _size(a, own, sizes), _size(b, own, sizes)
            return None if None in parts else max(each or 0.0 for each in parts)
        case _:
            return None
