"""Winograd's stages compute what the operator of the graph means."""

from typing import Any

import numpy as np
import pytest

from irkit import te, topi
from irkit.core import ShapeError
from irkit.graph import OPS
from irkit.ir import I64, Var


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("cut", [(1, 1, 1), (2, 1, 2), (1, 3, 1), (2, 2, 3)])
def test_stages_are_the_operator(tile: int, rows: int, cut: tuple[int, int, int]) -> None:
    chunks, panels, vectors = cut
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 2, 7, 6, 3))
    u = rng.standard_normal((chunks, tile + 2, tile + 2, panels, 2, 3, vectors, 4))
    bias = rng.standard_normal((chunks * panels * vectors, 4))
    options: dict[str, Any] = {"tile": tile, "rows": rows, "pads": (1, 0, 2, 1)}
    inputs = [te.placeholder(each.shape, "f64") for each in (x, u, bias)]
    made = topi.nn.conv_winograd(*inputs, **options)
    (found,) = te.evaluate([made], dict(zip(inputs, (x, u, bias), strict=True)))
    expected = OPS["conv_winograd"].evaluate([x, u, bias], options)
    assert np.allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_only_the_number_of_images_may_be_open() -> None:
    u = te.placeholder((1, 4, 4, 1, 1, 1, 1, 1), "f32")
    n = Var("n", I64)
    made = topi.nn.conv_winograd(
        te.placeholder((n, 1, 4, 4, 1), "f32"), u, tile=2, rows=1, pads=(0, 0, 0, 0)
    )
    assert made.shape[0] is n
    with pytest.raises(ShapeError, match="all extents but the first must be constant"):
        topi.nn.conv_winograd(
            te.placeholder((1, 1, n, 4, 1), "f32"), u, tile=2, rows=1, pads=(0, 0, 0, 0)
        )


def test_channels_must_agree() -> None:
    x = te.placeholder((1, 2, 4, 4, 1), "f32")
    u = te.placeholder((1, 4, 4, 1, 3, 1, 1, 1), "f32")
    with pytest.raises(ShapeError, match="conv_winograd: blocks of channels: 2 != 3"):
        topi.nn.conv_winograd(x, u, tile=2, rows=1, pads=(0, 0, 0, 0))
