"""Pooling against the ONNX reference."""

from typing import Any

import numpy as np
import pytest

from tests.graph.ops.ops_programs import onnx_attrs
from tests.graph.ops.references import RNG, computed, floats, onnx_result

POOLS = [
    ((1, 1, 3), {"kernel": (2,), "strides": (3,), "pads": (0, 1), "ceil_mode": True}),
    ((1, 2, 7, 8), {"kernel": (3, 3), "strides": (2, 2)}),
    ((1, 2, 7, 8), {"kernel": (3, 3), "strides": (2, 2), "ceil_mode": True}),
    ((1, 2, 7, 8), {"kernel": (3, 2), "strides": (2, 2), "ceil_mode": True, "pads": (1, 1, 1, 0)}),
    ((2, 1, 9), {"kernel": (2,), "dilations": (3,), "pads": (1, 2)}),
    ((1, 1, 5, 5, 5), {"kernel": (2, 2, 2), "strides": (2, 1, 2)}),
]


@pytest.mark.parametrize(("shape", "attrs"), POOLS)
def test_max_pooling_is_as_in_onnx(shape: tuple[int, ...], attrs: dict[str, Any]) -> None:
    x = floats(*shape)
    found = computed("max_pool", [x], **attrs)
    np.testing.assert_array_equal(found, onnx_result("MaxPool", [x], **onnx_attrs(attrs))[0])


@pytest.mark.parametrize(("shape", "attrs"), POOLS)
@pytest.mark.parametrize("include", [False, True])
def test_average_pooling_is_as_in_onnx(
    shape: tuple[int, ...], attrs: dict[str, Any], include: bool
) -> None:
    x, attrs = floats(*shape), {**attrs, "count_include_pad": include}
    found = computed("avg_pool", [x], **attrs)
    expected = onnx_result("AveragePool", [x], **onnx_attrs(attrs))[0]
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_indices_of_max_pooling_point_at_the_maxima(order: int) -> None:
    x = RNG.integers(0, 4, (2, 3, 5, 6)).astype("float32")
    attrs = {"kernel": (3, 2), "strides": (2, 1), "pads": (1, 1, 1, 0), "storage_order": order}
    largest, places = computed("max_pool_with_indices", [x], **attrs)
    flat = (x if order == 0 else x.swapaxes(2, 3)).ravel()
    np.testing.assert_array_equal(flat[places], largest)
    expected = onnx_result("MaxPool", [x], 2, **onnx_attrs(attrs))
    np.testing.assert_array_equal(places, expected[1])


def test_a_window_of_minus_infinities_has_an_index_inside() -> None:
    x = np.full((1, 1, 2, 2), -np.inf, "float32")
    _, places = computed("max_pool_with_indices", [x], kernel=(2, 2), pads=(1, 1, 1, 1))
    assert places.tolist() == [[[[0, 0, 1], [0, 0, 1], [2, 2, 3]]]]
