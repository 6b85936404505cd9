"""Convolution against the ONNX reference, matrix products against NumPy."""

from typing import Any

import numpy as np
import pytest

from irkit.core import DTypeError
from tests.graph.ops.ops_programs import onnx_attrs
from tests.graph.ops.references import computed, floats, onnx_result

CONVS = [
    ((1, 3, 7, 8), (4, 3, 3, 3), {}),
    ((2, 4, 9, 7), (6, 2, 3, 2), {"strides": (2, 1), "pads": (1, 0, 2, 1), "groups": 2}),
    ((1, 4, 10), (4, 1, 3), {"dilations": (2,), "groups": 4, "pads": (2, 2)}),
    ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), {"strides": (1, 2, 3)}),
]


@pytest.mark.parametrize(("x", "w", "attrs"), CONVS)
@pytest.mark.parametrize("bias", [False, True])
def test_convolution_is_as_in_onnx(
    x: tuple[int, ...], w: tuple[int, ...], attrs: dict[str, Any], bias: bool
) -> None:
    arrays = [floats(*x), floats(*w), *([floats(w[0])] if bias else [])]
    found = computed("conv", arrays, **attrs)
    np.testing.assert_allclose(
        found, onnx_result("Conv", arrays, **onnx_attrs(attrs))[0], 1e-4, 1e-5
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 1, 2, 3), (4, 3, 2))],
)
def test_matrix_products_follow_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = floats(*a, dtype="float64"), floats(*b, dtype="float64")
    np.testing.assert_allclose(computed("matmul", [x, y]), np.matmul(x, y))


@pytest.mark.parametrize("kinds", [("u1", "i1"), ("i2", "u1"), ("u2", "i2")])
def test_products_of_narrow_integers_are_summed_in_32_bits(kinds: tuple[str, str]) -> None:
    x, w = (np.full(shape, np.iinfo(kind).max, kind)
            for shape, kind in zip(((1, 9, 3, 3), (2, 9, 3, 3)), kinds, strict=True))  # fmt: skip
    total = 81 * int(x.flat[0]) * int(w.flat[0])
    wrapped = (total + 2**31) % 2**32 - 2**31
    assert computed("conv_integer", [x, w]).tolist() == [[[[wrapped]], [[wrapped]]]]
    rows, columns = x.reshape(1, 81), w.reshape(2, 81).T
    assert computed("matmul_integer", [rows, columns]).tolist() == [[wrapped, wrapped]]


def test_products_of_wide_integers_are_refused() -> None:
    wide = np.ones((2, 2), np.int32)
    with pytest.raises(DTypeError, match="argument b must hold integers of at most 16 bits"):
        computed("matmul_integer", [wide.astype(np.int8), wide])
