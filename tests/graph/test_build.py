"""Building graph functions."""

import pytest

from irkit.core import ShapeError
from irkit.graph import Builder, tensor_type


def test_errors_while_building_carry_the_place() -> None:
    b = Builder()
    x = b.param("x", (2, 3))
    with pytest.raises(ShapeError, match="matmul: argument b"):
        b.op("matmul", x, x)
    assert tensor_type((2, 3)) == x.type
