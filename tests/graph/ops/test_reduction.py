"""Reductions against NumPy."""

from typing import Any

import numpy as np
import pytest

from tests.graph.ops.references import RNG, computed


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("attrs", [{}, {"axes": (0, -1), "keepdims": True}, {"axes": (1,)}])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_reductions_follow_numpy(name: str, attrs: dict[str, Any], dtype: str) -> None:
    x = RNG.integers(-3, 4, (2, 3, 4)).astype(dtype)
    axis, keepdims = attrs.get("axes"), attrs.get("keepdims", False)
    expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    expected = np.trunc(expected) if dtype == "int32" else expected
    np.testing.assert_allclose(computed(name, [x], **attrs), expected)


def test_the_position_of_the_largest_is_the_first_one() -> None:
    x = np.array([[1, 3, 3], [2, 2, 0]])
    assert computed("argmax", [x], axis=1).tolist() == [1, 0]
    assert computed("argmin", [x], axis=-1, keepdims=True).tolist() == [[0], [2]]
