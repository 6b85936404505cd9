"""Copies of arrays with given strides."""

from typing import Any

import numpy as np
import pytest

from irkit.runtime import with_strides


@pytest.mark.parametrize(
    "values",
    [
        np.arange(24, dtype=np.int32).reshape(4, 6)[::2, 1::3],
        np.arange(12, dtype=np.float64).reshape(3, 4).T,
        np.arange(6, dtype=np.int16)[::-2],
        np.broadcast_to(np.float32(3), (2, 3)),
        np.zeros((0, 3), np.float32),
        np.array(7, np.int8),
    ],
    ids=["every other", "turned", "backwards", "broadcast", "empty", "scalar"],
)
def test_a_copy_has_the_values_and_strides_and_its_own_memory(
    values: np.ndarray[Any, Any],
) -> None:
    made = with_strides(values.copy(), values.strides)
    assert (made.shape, made.dtype) == (values.shape, values.dtype)
    assert made.strides == values.strides or not values.size
    np.testing.assert_array_equal(made, values)
    assert not np.shares_memory(made, values)
