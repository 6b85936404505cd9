"""What came of one drawn program."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

Status = Literal["right", "wrong", "disputed", "refused", "no case", "crashed"]
Array = np.ndarray[Any, Any]


class Outcome(NamedTuple):
    """``covers`` names the operators of the program, ``note`` says what is wrong or refused."""

    status: Status
    note: str = ""
    covers: Sequence[str] = ()


def difference(
    expected: Mapping[str, Array], computed: Mapping[str, Array], tolerance: float
) -> str:
    """Return how results differ, or "".

    Integers and bools must be equal, floats within a tolerance of the largest number of the array;
    NaN and infinities must stand in the same places.
    """
    for name, right in expected.items():
        ours = np.asarray(computed[name])
        if ours.shape != right.shape or ours.dtype != right.dtype:
            return f"{name}: {ours.dtype}{list(ours.shape)}, not {right.dtype}{list(right.shape)}"
        if right.dtype.kind not in "fV":
            apart = ours != right
            if apart.any():
                return _first(name, apart, ours, right)
            continue
        a, b = ours.astype(np.float64), right.astype(np.float64)
        finite = np.isfinite(b)
        special = np.where(finite, ~np.isfinite(a), ~((a == b) | (np.isnan(a) & np.isnan(b))))
        if special.any():
            return _first(name, special, ours, right)
        most = np.abs(b[finite]).max() if finite.any() else 0.0
        with np.errstate(invalid="ignore"):
            apart = np.where(finite, np.abs(a - b) > tolerance * max(most, 1e-3), False)
        if apart.any():
            return _first(name, apart, ours, right)
    return ""


def _first(name: str, apart: Array, ours: Array, right: Array) -> str:
    index = tuple(int(i) for i in np.argwhere(np.atleast_1d(apart))[0])
    index = index if right.ndim else ()
    return f"{name}{list(index)} is {ours[index]}, not {right[index]}; {int(apart.sum())} differ"
