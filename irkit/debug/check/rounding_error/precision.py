"""How far floats may differ between two programs that mean the same.

The program is run again, with the error that rounding can make carried along with each float
(``running_error``), so each element has a bound of its own. The bound is of the worst case, for any
order of sums and products, with or without fused operations.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from irkit.core import IRKitError
from irkit.debug.check.difference import is_float
from irkit.debug.check.rounding_error.bounded import ULPS, UNIT
from irkit.debug.check.rounding_error.running_error import PARTS, with_running_error
from irkit.debug.execution.inputs import Array, InputSet
from irkit.ir import Buffer, PrimFunc, from_numpy
from irkit.runtime import with_strides

Runner = Callable[[PrimFunc, list[object]], list[Array] | None]


class Precision:
    """Error bounds for the results of one function."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.bounded: PrimFunc | None = None
        with suppress(IRKitError, NotImplementedError):  # Then nothing is known.
            self.bounded = with_running_error(func)

    def allowed(self, inputs: InputSet, own: tuple[Array, ...], run: Runner) -> list[Array | None]:
        """Return a bound on the difference of each element of each array from ``own``, the results
        of the function; None for an array that must be exact, infinite where nothing is known."""
        found = None if self.bounded is None else run(self.bounded, self._args(inputs))
        if found is None or found[-1][0] != 0:
            return [np.full(array.shape, np.inf) for array in own]
        arrays = iter(found)
        limits: list[Array | None] = []
        for array in own:
            parts = [next(arrays) for _ in PARTS] if is_float(array) else [next(arrays)]
            limits.append(_limit(*parts) if is_float(array) else None)
        return limits

    def _args(self, inputs: InputSet) -> list[object]:
        made: list[object] = []
        for param, arg in zip(self.func.params, inputs.copied(), strict=True):
            if not param.dtype.is_float:
                made.append(arg)
            elif not isinstance(param, Buffer):
                with np.errstate(all="ignore"):
                    made.append(float(np.asarray(arg, np.float64)))
            else:
                value, none = arg.astype(np.float64), np.zeros(arg.shape)
                made += [_like(arg, each) for each in (value, np.abs(value), none, none)]
        return [*made, np.zeros(1)]


def _like(array: Array, values: Array) -> Array:
    """Return values in the layout of an array."""
    if array.flags.c_contiguous:
        return values.copy(order="C")
    steps = tuple(step // array.itemsize * values.itemsize for step in array.strides)
    return with_strides(values, steps)


def _limit(value: Array, size: Array, rate: Array, error: Array) -> Array:
    """Return how far two results may be apart, each within its bound of the true value."""
    with np.errstate(all="ignore"):
        grown = np.where(rate == 0, 0.0, np.where(rate < 0.5, rate / (1 - rate) * size, np.inf))
        total = 2 * (error + grown)
    return np.where(np.isnan(total), np.inf, total)


def unit_of(array: Array) -> float:
    """Return the largest relative error of one rounding."""
    return UNIT[str(from_numpy(array.dtype))]


def native_limits(arrays: Sequence[Array], limits: Sequence[Array | None]) -> list[Array | None]:
    """Return bounds for native code, which computes in the same order: where nothing is known, a
    few units in the last place."""
    made: list[Array | None] = []
    for array, limit in zip(arrays, limits, strict=True):
        if limit is None or not is_float(array):
            made.append(None)
            continue
        with np.errstate(all="ignore"):
            near = ULPS * 2 * unit_of(array) * np.abs(array.astype(np.float64))
        made.append(np.where(np.isfinite(limit), limit, near))
    return made
