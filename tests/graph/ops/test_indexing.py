"""Slicing, padding, gathering and filling against NumPy."""

import numpy as np
import pytest

from irkit.core import ShapeError
from irkit.graph import OPS, tensor_type
from tests.graph.ops.references import computed, floats, onnx_result


def test_slices_follow_numpy() -> None:
    x, low = floats(5, 6), -(2**63)
    found = computed("slice", [x], begins=(-1, 1), ends=(low, 100), strides=(-2, 2), axes=(0, 1))
    np.testing.assert_array_equal(found, x[::-2, 1::2])
    assert computed("slice", [x], begins=(3,), ends=(1,), axes=(-1,)).shape == (5, 0)


def test_padding_extends_and_negative_pads_crop() -> None:
    x = floats(2, 3)
    found = computed("pad", [x], pads=(1, -1, 0, 2), value=7.0)
    np.testing.assert_array_equal(found, np.pad(x[:, 1:], ((1, 0), (0, 2)), constant_values=7))


@pytest.mark.parametrize("pads", [(3, -2), (-2, 3), (5, -4), (-5, 4), (0, -3), (1, 1), (-1, -1)])
def test_one_end_crops_what_the_other_was_padded_with(pads: tuple[int, int]) -> None:
    x = np.array([1.0, 2.0, 3.0])
    wide = np.pad(x, 9, constant_values=7)
    wanted = wide[9 - pads[0] : len(wide) - 9 + pads[1]]
    np.testing.assert_array_equal(computed("pad", [x], pads=pads, value=7.0), wanted)


def test_take_counts_from_the_end_and_clamps_indices() -> None:
    x = np.arange(10.0).reshape(2, 5)
    found = computed("take", [x, np.array([[0, -1], [9, -9]])], axis=1)
    np.testing.assert_array_equal(found, x[:, [[0, 4], [4, 0]]])


def test_full_fills_arrays_with_one_value() -> None:
    assert computed("full", [], shape=(2, 1), value=3, dtype="i8").tolist() == [[3], [3]]
    assert computed("full_like", [floats(2)], value=-0.0).tolist() == [-0.0, -0.0]


def test_scatter_stores_rows_at_their_places() -> None:
    x, indices, updates = floats(4, 5, 3), np.array([[1, -1], [0, 2], [3, 0]]), floats(3, 3)
    found = computed("scatter", [x, indices, updates])
    np.testing.assert_array_equal(
        found, onnx_result("ScatterND", [x, indices % [4, 5], updates])[0]
    )
    behind = computed("scatter", [x, np.array([[4], [0]]), floats(4, 2, 3)], axis=1)
    np.testing.assert_array_equal(behind[:, 1:4], x[:, 1:4])


def test_of_two_rows_for_one_place_the_last_stays_and_rows_outside_are_left_out() -> None:
    x, updates = np.zeros((4, 1), np.float32), np.arange(1, 6, dtype=np.float32)[:, None]
    found = computed("scatter", [x, np.array([[2], [4], [0], [-2], [-5]]), updates])
    assert found.ravel().tolist() == [3, 0, 4, 0]


def test_indices_number_one_axis_or_more() -> None:
    kinds = [tensor_type((3, 2)), tensor_type((1, 2), "i64"), tensor_type((1,))]
    with pytest.raises(ShapeError, match="indices must have 1 to 1 along axis 1"):
        OPS["scatter"].infer(kinds, {"axis": 1})
