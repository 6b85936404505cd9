"""Constant arrays are identified by their contents."""

import numpy as np

from irkit.graph import ArrayData


def test_equal_constants_have_equal_digests() -> None:
    assert ArrayData(np.ones(3)) == ArrayData(np.ones(3)) != ArrayData(np.zeros(3))
