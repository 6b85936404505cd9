"""Constant arrays are identified by their contents."""

import numpy as np
from hypothesis import given, strategies as st

from irkit.graph import ArrayData


def test_equal_constants_have_equal_digests() -> None:
    assert ArrayData(np.ones(3)) == ArrayData(np.ones(3)) != ArrayData(np.zeros(3))


@given(st.sampled_from([3, 2000]), st.integers(0, 5999), st.sampled_from(["f4", "f8", "i8"]))
def test_arrays_are_equal_if_type_shape_and_bytes_are(size: int, at: int, dtype: str) -> None:
    array = np.arange(size).astype(dtype)
    known, same = ArrayData(array), ArrayData(array.copy())
    absent = ArrayData.absent(known.digest, known.shape, known.dtype)
    assert known == same == absent == known
    assert len({known, same, absent}) == 1
    array.view(np.uint8)[at % array.nbytes] ^= 1
    assert known != ArrayData(array) != absent
    assert known != ArrayData(known.array.reshape(1, -1)) != absent
    assert known != ArrayData(known.array.view(f"u{known.dtype.itemsize}")) != absent


def test_zeros_of_both_signs_differ_and_nan_is_itself() -> None:
    for size in (1, 5000):
        zeros, nans = np.zeros(size, "f4"), np.full(size, np.nan, "f4")
        assert ArrayData(zeros) != ArrayData(-zeros)
        assert ArrayData(nans) == ArrayData(nans.copy())
