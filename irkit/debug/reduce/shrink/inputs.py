"""Simpler inputs: zeros, then ones, then small whole numbers."""

from functools import partial
from typing import Any

import numpy as np

from irkit.debug.reduce.case import FailingCase, Move

MAX_PIECES = 256  # Elements tried one by one; larger arrays are cut into as many pieces.


def values(case: FailingCase) -> list[Move]:
    """Write simpler numbers into each array, first everywhere and then piece by piece."""
    moves: list[Move] = []
    for name, value in case.inputs.items():
        if not _is_simple(np.asarray(value)):
            moves += [partial(_filled, name=name, value=number) for number in (0, 1)]
            moves.append(partial(_rounded, name=name))
    for name, value in case.inputs.items():
        array = np.asarray(value).reshape(-1)
        step = max(1, array.size // MAX_PIECES)
        for at in range(0, array.size, step):
            piece = array[at : at + step]
            for number in (0, 1):
                if not _is_at_most(piece, number):
                    moves.append(partial(_written, name=name, at=at, step=step, value=number))
    return moves


def _is_simple(array: Any) -> bool:
    return not np.any(np.asarray(array != 0))


def _is_at_most(piece: Any, number: int) -> bool:
    """Return True if every element is 0 or ``number``, which is 0 or 1."""
    return bool(np.all((piece == 0) | (piece == number)))


def _filled(case: FailingCase, name: str, value: int) -> FailingCase | None:
    array = np.asarray(case.inputs[name])
    if _is_at_most(array, value):
        return None
    return _with(case, name, np.full_like(array, value))


def _rounded(case: FailingCase, name: str) -> FailingCase | None:
    array = np.asarray(case.inputs[name])
    with np.errstate(all="ignore"):
        wide = np.nan_to_num(array.astype(np.float64), nan=0.0, posinf=9.0, neginf=-9.0)
        low = 0 if array.dtype.kind in "ub" else -9
        small = np.clip(np.round(wide), low, 9).astype(array.dtype)
    changed = small.tobytes() != array.tobytes()
    return _with(case, name, small) if changed else None


def _written(case: FailingCase, name: str, at: int, step: int, value: int) -> FailingCase | None:
    if name not in case.inputs:
        return None
    array = np.array(case.inputs[name])
    flat = array.reshape(-1)
    if _is_at_most(flat[at : at + step], value):
        return None
    flat[at : at + step] = value
    return _with(case, name, array)


def _with(case: FailingCase, name: str, array: Any) -> FailingCase:
    return case.replace(inputs={**case.inputs, name: array})
