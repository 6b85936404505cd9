"""Convolution, against plain NumPy and as loops."""

from typing import Any

import numpy as np
import pytest

from irkit import te, topi
from irkit.core import ShapeError
from tests.te.agree import agree
from tests.topi.nn.windows import padded, places, slid

RNG = np.random.default_rng(6)


def conv_by_hand(x: Any, w: Any, strides: Any, pads: Any, dilations: Any, groups: int) -> Any:
    rank, kernel = x.ndim - 2, w.shape[2:]
    starts = places(x.shape[2:], kernel, strides, pads, dilations)
    whole = padded(x, pads[:rank], pads[rank:], 0)
    axes = list(range(1, rank + 2))

    def one(window: Any) -> Any:
        pieces = zip(np.split(window, groups, 1), np.split(w, groups), strict=True)
        return np.concatenate([np.tensordot(a, b, (axes, axes)) for a, b in pieces], 1)

    return slid(whole, starts, kernel, dilations, one)


CONVOLUTIONS = [
    ((2, 3, 7), (4, 3, 3), {}),
    ((1, 3, 6, 5), (4, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 3, 6, 5), (4, 3, 3, 2), {"strides": (2, 1), "pads": (0, 1, 2, 0)}),
    ((1, 4, 6, 6), (6, 2, 3, 3), {"groups": 2, "dilations": (2, 1)}),
    ((2, 4, 5, 5), (4, 1, 3, 3), {"groups": 4, "pads": (1, 1, 1, 1)}),
    ((1, 2, 5, 5), (6, 1, 1, 1), {"groups": 2}),
    ((1, 2, 4, 4, 3), (3, 2, 2, 2, 2), {"strides": (2, 1, 1)}),
]


@pytest.mark.parametrize(("x_shape", "w_shape", "options"), CONVOLUTIONS)
def test_convolutions_agree_with_numpy(x_shape: Any, w_shape: Any, options: Any) -> None:
    x, w = te.placeholder(x_shape, name="x"), te.placeholder(w_shape, name="w")
    bias = te.placeholder((w_shape[0],), name="bias")
    a, b, c = (RNG.random(tuple(s), np.float32) for s in (x_shape, w_shape, w_shape[:1]))
    rank = len(x_shape) - 2
    filled = {"strides": (1,) * rank, "pads": (0,) * 2 * rank, "dilations": (1,) * rank}
    right = conv_by_hand(a, b, **{**filled, "groups": 1, **options})
    agree(topi.conv(x, w, **options), {x: a, w: b}, right)
    shifted = right + c.reshape(-1, *(1,) * rank)
    agree(topi.conv(x, w, bias, **options), {x: a, w: b, bias: c}, shifted)


def test_convolution_of_symbolic_images() -> None:
    n, h = te.var("n"), te.var("h")
    x, w = te.placeholder((n, 2, h, h), name="x"), te.placeholder((3, 2, 3, 3), name="w")
    a, b = RNG.random((2, 2, 7, 7), np.float32), RNG.random((3, 2, 3, 3), np.float32)
    made = topi.conv(x, w, strides=(2, 2), pads=(1, 1, 1, 1))
    agree(made, {x: a, w: b}, conv_by_hand(a, b, (2, 2), (1, 1, 1, 1), (1, 1), 1))


def test_padding_of_a_convolution_is_a_separate_stage() -> None:
    x, w = te.placeholder((1, 1, 4, 4), name="x"), te.placeholder((1, 1, 3, 3), name="w")
    stages = [op.name for op in te.operations_of([topi.conv(x, w, pads=(1, 1, 1, 1))])]
    assert stages == ["x", "pad", "w", "conv"]
    assert [op.name for op in te.operations_of([topi.conv(x, w)])] == ["x", "w", "conv"]


def test_convolution_of_small_integers_accumulates_in_the_given_type() -> None:
    x, w = te.placeholder((1, 2, 5), "uint8", "x"), te.placeholder((3, 2, 3), "uint8", "w")
    a, b = RNG.integers(0, 255, (1, 2, 5)), RNG.integers(0, 255, (3, 2, 3))
    right = conv_by_hand(a, b, (1,), (0, 0), (1,), 1).astype(np.int32)
    inputs = {x: a.astype(np.uint8), w: b.astype(np.uint8)}
    agree(topi.conv(x, w, out_dtype="int32"), inputs, right)


def test_filters_that_do_not_fit_are_named() -> None:
    x, w = te.placeholder((1, 4, 5), name="x"), te.placeholder((3, 3, 3), name="w")
    with pytest.raises(ShapeError, match="channels of 'x' and of 'w' times 1 must agree: 4 != 3"):
        topi.conv(x, w)
    with pytest.raises(ShapeError, match="3 filters cannot be divided into 2 groups"):
        topi.conv(x, te.placeholder((3, 2, 3)), groups=2)
    with pytest.raises(ShapeError, match="does not fit along spatial axis 0"):
        topi.conv(x, te.placeholder((3, 4, 6)))
    with pytest.raises(ShapeError, match="1 spatial axes need 1 strides"):
        topi.conv(x, te.placeholder((3, 4, 3)), strides=(1, 1))
    with pytest.raises(ShapeError, match=r"'w2' of shape \[3, 4\] must have 3 axes"):
        topi.conv(x, te.placeholder((3, 4), name="w2"))
