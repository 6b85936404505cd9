"""Pools that the suite has few cases of, against plain NumPy."""

import numpy as np
import pytest
from onnx.helper import make_node

from tests.frontend.onnx.models import floats, run_node

X = floats(2, 3, 7, 6)


@pytest.mark.parametrize(("opset", "p"), [(1, 3.0), (2, 1), (13, 3), (22, 2)])
def test_a_norm_over_all_pixels(opset: int, p: float) -> None:
    (got,) = run_node(make_node("GlobalLpPool", ["x"], ["y"], p=p), {"x": X}, opset=opset)
    want = (np.abs(X) ** p).sum(axis=(2, 3), keepdims=True) ** (1 / p)
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_a_norm_of_windows_counts_padding_as_zeros(ceil_mode: int) -> None:
    node = make_node(
        "LpPool", ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 0, 1], p=3,
        ceil_mode=ceil_mode,
    )  # fmt: skip
    (got,) = run_node(node, {"x": X}, opset=18)
    # The third window of a row would begin in the padding, so even ceil_mode leaves it out.
    wide = np.pad(np.abs(X) ** 3, ((0, 0), (0, 0), (1, ceil_mode), (0, 1)))
    rows, columns = (wide.shape[2] - 3) // 2 + 1, 2
    want = np.zeros((2, 3, rows, columns), np.float32)
    for i in range(rows):
        for j in range(columns):
            window = wide[:, :, 2 * i : 2 * i + 3, 3 * j : 3 * j + 2]
            want[:, :, i, j] = window.sum(axis=(2, 3)) ** (1 / 3)
    np.testing.assert_allclose(got, want, rtol=1e-5)
