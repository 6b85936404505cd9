"""Gradients by finite differences: the definition of a derivative, and no rule of irkit."""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
STEP = 1e-5
MOST = 12
"""Elements that are moved alone; all are moved together along two random directions."""


def assert_gradients(
    run: Callable[[list[Array]], float], arrays: list[Array], found: dict[int, Array]
) -> None:
    """Compare gradients with respect to some arrays, by position, with central differences."""
    random = np.random.default_rng(len(arrays))
    for position, gradient in found.items():
        x = arrays[position]
        assert gradient.shape == x.shape, f"argument {position}: {gradient.shape}, not {x.shape}"
        assert np.isfinite(gradient).all(), f"argument {position}: {gradient}"
        directions = [random.standard_normal(x.shape) for _ in range(2)]
        for at in random.permutation(x.size)[:MOST]:
            alone = np.zeros(x.size)
            alone[at] = 1.0
            directions.append(alone.reshape(x.shape))
        for direction in directions if x.size else []:
            want = _slope(run, arrays, position, direction)
            have = float((gradient * direction).sum())
            assert abs(have - want) <= 2e-5 * (1 + abs(want)), (
                f"argument {position}: slope {have}, by finite differences {want}"
            )


def _slope(
    run: Callable[[list[Array]], float], arrays: list[Array], position: int, direction: Array
) -> float:
    def moved(by: float) -> float:
        changed = list(arrays)
        changed[position] = arrays[position] + by * direction
        return run(changed)

    return (moved(STEP) - moved(-STEP)) / (2 * STEP)
