"""Winograd's convolution means what a direct one does, and its mistakes are named."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from irkit.core import DTypeError, OptionError, ShapeError
from irkit.graph import OPS, tensor_type, winograd_filters

SIZES = st.integers(1, 9)


def direct(x: Any, w: Any, pads: tuple[int, ...]) -> Any:
    """Convolve in f64. Shapes: x [N, B, H, W, c], w [K, B, 3, 3, c, k] -> [N, K, P, Q, k]."""
    top, left, bottom, right = pads
    whole = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right), (0, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(whole, (3, 3), (2, 3))
    return np.einsum("nbyxcrs,kbrscl->nkyxl", seen, w.astype(np.float64), optimize=True)


@given(
    sizes=st.tuples(*[SIZES] * 4),
    extents=st.tuples(st.integers(1, 2), SIZES, SIZES, *[st.integers(0, 2)] * 4),
    tile=st.sampled_from((2, 4)),
    cut=st.sampled_from(((1, 1), (2, 1), (1, 3), (2, 2))),
    seed=st.integers(0, 99),
)
def test_it_is_a_convolution(
    sizes: Any, extents: Any, tile: int, cut: tuple[int, int], seed: int
) -> None:
    blocks, inner, lanes, rows = sizes
    images, height, width, *pads = extents
    height, width = max(height, 3 - pads[0] - pads[2]), max(width, 3 - pads[1] - pads[3])
    rng, panels = np.random.default_rng(seed), cut[0] * cut[1] * (1 + seed % 2)
    x = rng.standard_normal((images, blocks, height, width, inner))
    w = rng.standard_normal((panels, blocks, 3, 3, inner, lanes))
    bias = rng.standard_normal((panels, lanes))
    u = winograd_filters(w, tile, *cut)
    options = {"tile": tile, "rows": rows, "pads": tuple(pads)}
    found = OPS["conv_winograd"].evaluate([x, u, bias], options)
    expected = direct(x, w, tuple(pads)) + bias[:, None, None]
    assert np.allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_filters_are_rounded_once() -> None:
    w = np.full((1, 1, 3, 3, 1, 1), 1 / 3, np.float32)
    third = float(np.float32(1 / 3))
    assert winograd_filters(w, 2, 1, 1).reshape(4, 4)[1, 1] == np.float32(9 * third / 4)


WRONG: list[tuple[list[str], dict[str, Any], str]] = [
    (["1,2,5,5,4", "1,4,4,1,2,4,1,4"], {"tile": 3, "rows": 1}, "tile must be 2 or 4"),
    (["1,2,5,5,4", "1,4,4,1,2,4,1,4"], {"tile": 2, "rows": 0}, "rows at least 1"),
    (["1,2,5,5,4", "1,4,4,1,2,4,1,4"], {"tile": 4, "rows": 1}, "argument u must have 6"),
    (["1,2,5,5,4", "1,4,4,1,3,4,1,4"], {"tile": 2, "rows": 1}, "blocks of channels of x"),
    (["1,2,5,5,4", "1,4,4,1,2,3,1,4"], {"tile": 2, "rows": 1}, "channels of a block of x"),
    (["1,2,5,5,4", "1,4,4,1,2,4,1,4", "2,4"], {"tile": 2, "rows": 1}, "argument b must have 1"),
    (["1,2,5,5,4", "1,4,4,1,2,4,1,4"], {"tile": 2, "rows": 1, "pads": (1,)}, "4 integers"),
    (["1,2,1,5,4", "1,4,4,1,2,4,1,4"], {"tile": 2, "rows": 1}, "does not fit"),
    (["1,2,5,5", "1,4,4,1,2,4,1,4"], {"tile": 2, "rows": 1}, "must have rank 5"),
]


@pytest.mark.parametrize(("args", "attrs", "message"), WRONG)
def test_mistakes_are_named(args: list[str], attrs: dict[str, Any], message: str) -> None:
    types = [tensor_type([int(part) for part in arg.split(",")]) for arg in args]
    with pytest.raises((ShapeError, OptionError), match=message):
        OPS["conv_winograd"].infer(types, attrs)


def test_half_floats_are_refused() -> None:
    types = [tensor_type((1, 1, 4, 4, 1), "f16"), tensor_type((1, 4, 4, 1, 1, 1, 1, 1), "f16")]
    with pytest.raises(DTypeError, match="f32 or f64, found f16"):
        OPS["conv_winograd"].infer(types, {"tile": 2, "rows": 1})
