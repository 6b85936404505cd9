"""Slicing, padding, gathering and filling against NumPy."""

import numpy as np

from tests.graph.ops.references import computed, floats


def test_slices_follow_numpy() -> None:
    x, low = floats(5, 6), -(2**63)
    found = computed("slice", [x], begins=(-1, 1), ends=(low, 100), strides=(-2, 2), axes=(0, 1))
    np.testing.assert_array_equal(found, x[::-2, 1::2])
    assert computed("slice", [x], begins=(3,), ends=(1,), axes=(-1,)).shape == (5, 0)


def test_padding_extends_and_negative_pads_crop() -> None:
    x = floats(2, 3)
    found = computed("pad", [x], pads=(1, -1, 0, 2), value=7.0)
    np.testing.assert_array_equal(found, np.pad(x[:, 1:], ((1, 0), (0, 2)), constant_values=7))


def test_take_counts_from_the_end_and_clamps_indices() -> None:
    x = np.arange(10.0).reshape(2, 5)
    found = computed("take", [x, np.array([[0, -1], [9, -9]])], axis=1)
    np.testing.assert_array_equal(found, x[:, [[0, 4], [4, 0]]])


def test_full_fills_arrays_with_one_value() -> None:
    assert computed("full", [], shape=(2, 1), value=3, dtype="i8").tolist() == [[3], [3]]
    assert computed("full_like", [floats(2)], value=-0.0).tolist() == [-0.0, -0.0]
