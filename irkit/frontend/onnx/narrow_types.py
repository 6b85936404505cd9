"""Types that irkit computes in wider ones: integers of 4 and 2 bits, floats of 8 and 4.

A caller's array has one byte for each element, in the types of ml_dtypes; in the graph, integers
are of 8 bits and floats are f32, with the same numbers.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray

from irkit.ir import F32, I8, U8, DType


class NarrowType(msgspec.Struct, frozen=True, dict=True):
    """A narrow type: its number in ONNX, its name in ml_dtypes, and its bits; ``limits`` are the
    least and the largest number of an integer type."""

    number: int
    name: str
    bits: int
    limits: tuple[int, int] | None = None

    @property
    def carrier(self) -> DType:
        """The type in the graph."""
        if self.limits is None:
            return F32
        return I8 if self.limits[0] < 0 else U8

    @property
    def called(self) -> str:
        """Name in the schemas of ONNX."""
        return onnx.TensorProto.DataType.Name(self.number).lower()

    @property
    def array_type(self) -> np.dtype[Any]:
        return np.dtype(getattr(ml_dtypes, self.name))

    @cached_property
    def numbers(self) -> NDArray[np.float32]:
        """The number that each pattern of bits stands for."""
        codes = np.arange(1 << self.bits, dtype=np.uint8)
        return codes.view(self.array_type).astype(np.float32)

    @property
    def has_sign(self) -> bool:
        return bool((self.numbers < 0).any())

    @property
    def has_negative_zero(self) -> bool:
        return bool((np.signbit(self.numbers) & (self.numbers == 0)).any())

    @cached_property
    def magnitudes(self) -> NDArray[np.float32]:
        """The finite numbers without a sign, which stand in the order of their bits."""
        half = self.numbers[: 1 << (self.bits - 1)] if self.has_sign else self.numbers
        return half[np.isfinite(half)]

    @property
    def has_infinity(self) -> bool:
        return bool(np.isinf(self.numbers).any())

    @property
    def nan_bits(self) -> int:
        """The bits of NaN; 0 in a type without one."""
        found = np.flatnonzero(np.isnan(self.numbers))
        return int(found[0]) if len(found) else 0


_Proto = onnx.TensorProto
NARROW_TYPES = {
    each.number: each
    for each in (
        NarrowType(_Proto.INT4, "int4", 4, (-8, 7)),
        NarrowType(_Proto.UINT4, "uint4", 4, (0, 15)),
        NarrowType(_Proto.INT2, "int2", 2, (-2, 1)),
        NarrowType(_Proto.UINT2, "uint2", 2, (0, 3)),
        NarrowType(_Proto.FLOAT8E4M3FN, "float8_e4m3fn", 8),
        NarrowType(_Proto.FLOAT8E4M3FNUZ, "float8_e4m3fnuz", 8),
        NarrowType(_Proto.FLOAT8E5M2, "float8_e5m2", 8),
        NarrowType(_Proto.FLOAT8E5M2FNUZ, "float8_e5m2fnuz", 8),
        NarrowType(_Proto.FLOAT8E8M0, "float8_e8m0fnu", 8),
        NarrowType(_Proto.FLOAT4E2M1, "float4_e2m1fn", 4),
    )
}
"""By the number of the type in ONNX."""

KEEPING = frozenset({"reshape", "transpose", "take", "slice", "pad", "concat", "identity"})
"""Operators whose result has the numbers of their first operand."""

_BY_ARRAY_TYPE = {each.array_type: each for each in NARROW_TYPES.values()}


def narrow_named(name: str) -> NarrowType | None:
    """Return the narrow type that ml_dtypes calls so."""
    return next((each for each in NARROW_TYPES.values() if each.name == name), None)


def widened(array: NDArray[np.generic]) -> tuple[NDArray[np.generic], NarrowType | None]:
    """Return an array in a type that irkit has, and its narrow type if it was of one."""
    kind = _BY_ARRAY_TYPE.get(array.dtype)
    if kind is None:
        return array, None
    return array.astype({F32: np.float32, I8: np.int8, U8: np.uint8}[kind.carrier]), kind


def rounding_steps(
    kind: NarrowType, wide: "np.dtype[Any]", mode: str, *, saturate: bool
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return the least magnitudes, ascending, from which on each number of a float type is the
    nearest, but the first; and these numbers, of which the last is what is too large becomes.

    ``mode`` is "nearest", with ties to even bits, or "up" or "down", which e8m0 has.
    """
    held = kind.magnitudes
    exact = held.astype(np.float64)
    after = exact[-1] + (exact[-1] - exact[-2])
    ends = np.append(exact[1:], after)
    begins = exact
    least = _LEAST[mode](begins, ends, wide)
    if saturate or kind.bits == 4:
        return least[:-1], held
    beyond = np.float32(np.inf if kind.has_infinity else np.nan)
    return least, np.append(held, beyond).astype(np.float32)


def _nearest(begins: NDArray[Any], ends: NDArray[Any], wide: "np.dtype[Any]") -> NDArray[Any]:
    middle = ((begins + ends) / 2).astype(wide)
    to_even = np.arange(1, len(begins) + 1) % 2 == 0
    return np.where(to_even, middle, np.nextafter(middle, wide.type(np.inf)))


def _up(begins: NDArray[Any], ends: NDArray[Any], wide: "np.dtype[Any]") -> NDArray[Any]:
    del ends
    return np.nextafter(begins.astype(wide), wide.type(np.inf))


def _down(begins: NDArray[Any], ends: NDArray[Any], wide: "np.dtype[Any]") -> NDArray[Any]:
    del begins
    return ends.astype(wide)


_Least = Callable[[NDArray[Any], NDArray[Any], "np.dtype[Any]"], NDArray[Any]]
_LEAST: dict[str, _Least] = {"nearest": _nearest, "up": _up, "down": _down}
