"""Normalisation, against plain NumPy and as loops."""

import numpy as np
import pytest

from irkit import te, topi
from irkit.core import ShapeError
from tests.te.agree import agree

RNG = np.random.default_rng(6)


def test_batch_normalisation_agrees_with_its_definition() -> None:
    x = te.placeholder((2, 3, 4), name="x")
    given_ = [te.placeholder((3,), name=name) for name in ("scale", "bias", "mean", "variance")]
    value = RNG.random((2, 3, 4), np.float32)
    s, b, m, v = (RNG.random(3, np.float32) for _ in range(4))
    sc, bc, mc, vc = (each.reshape(3, 1) for each in (s, b, m, v))
    right = (value - mc) / np.sqrt(vc + np.float32(1e-3)) * sc + bc
    inputs = {x: value, **dict(zip(given_, (s, b, m, v), strict=True))}
    agree(topi.batch_norm(x, *given_, epsilon=1e-3), inputs, right)
    with pytest.raises(ShapeError, match="'short' needs one value for each channel of 'x': 2 != 3"):
        topi.batch_norm(x, *given_[:3], te.placeholder((2,), name="short"))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_local_response_normalisation_agrees_with_its_definition(size: int) -> None:
    x = te.placeholder((2, 5, 3, 2), name="x")
    value = RNG.random((2, 5, 3, 2), np.float32)
    squares = np.zeros_like(value)
    for c in range(5):
        low, high = max(0, c - (size - 1) // 2), min(5, c + size // 2 + 1)
        squares[:, c] = (value[:, low:high] ** 2).sum(1)
    right = value / (2.0 + 0.1 / size * squares) ** 0.75
    made = topi.lrn(x, size, alpha=0.1, beta=0.75, bias=2.0)
    agree(made, {x: value}, right.astype(np.float32))
