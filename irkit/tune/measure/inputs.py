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


class Expected:
    """What a result must become, and how far each element may be from it."""

    def __init__(self, name: str, want: NDArray[Any], *, exactly: bool, steps: int) -> None:
        self.name, self.want = name, want
        self.wide = want.astype(np.float64)
        with np.errstate(all="ignore"):
            exact = exactly or want.dtype.kind in "biu"
            self.allowed = np.zeros(1) if exact else _allowed(self.wide, want.dtype, steps)

    def check(self, got: NDArray[Any]) -> Agreement:
        """Compare a result."""
        if same_bits(self.want, got):
            return Agreement(True)
        other = got.astype(np.float64)
        with np.errstate(all="ignore"):
            near = np.abs(self.wide - other) <= self.allowed
            if near.all():
                return Agreement(True)
            lost = np.isnan(other) & ~np.isnan(self.wide)
            if lost.any():
                return Agreement(False, True, f"{self.name!r} has {int(lost.sum())} NaN")
            bad = ~(near | (np.isnan(self.wide) & np.isnan(other)) | (self.wide == other))
        if not bad.any():
            return Agreement(True)
        place = tuple(int(each) for each in np.argwhere(bad)[0])
        return Agreement(
            False,
            False,
            f"{self.name!r} is {other[place]:g} at {list(place)}, expected {self.wide[place]:g}: "
            f"{int(bad.sum())} of {bad.size} elements differ",
        )


def expected_of(
    func: PrimFunc, results: Sequence[NDArray[Any]], *, exactly: bool, steps: int
) -> list[Expected]:
    """Return what results of other code must become: the same, or floats within what ``steps``
    additions can round."""
    names = [func.params[at].name for at in outputs_of(func)]
    return [
        Expected(name, each, exactly=exactly, steps=steps)
        for name, each in zip(names, results, strict=True)
    ]


def agree(expected: Sequence[Expected], found: Sequence[NDArray[Any]]) -> Agreement:
    """Compare results; return the first disagreement."""
    for want, got in zip(expected, found, strict=True):
        agreement = want.check(got)
        if not agreement.ok:
            return agreement
    return Agreement(True)


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return True if two arrays of one shape and type have the same bits."""
    bits = f"u{one.itemsize}"
    return bool((one.view(bits) == other.view(bits)).all())


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
