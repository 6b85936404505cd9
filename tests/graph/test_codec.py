from typing import Any

import ml_dtypes
import numpy as np
import pytest

from irkit.core import FormatError, IRKitError
from irkit.graph import ARRAY_CODEC, ArrayData


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, ml_dtypes.bfloat16, np.uint8])
@pytest.mark.parametrize("shape", [(), (0,), (3, 2), (1, 1, 4)])
def test_a_small_array_round_trips_bit_by_bit(dtype: Any, shape: tuple[int, ...]) -> None:
    data = ArrayData(np.arange(int(np.prod(shape))).reshape(shape).astype(dtype))
    back = ARRAY_CODEC.unpack(ARRAY_CODEC.pack(data))
    assert back == data
    assert back.array.dtype == data.array.dtype
    assert np.array_equal(back.array, data.array)


def test_only_the_digest_of_a_large_array_is_stored() -> None:
    data = ArrayData(np.zeros((300,), np.float32))
    packed = ARRAY_CODEC.pack(data)
    assert packed[3] is None
    back = ARRAY_CODEC.unpack(packed)
    assert back == data
    assert (back.shape, back.dtype) == ((300,), np.dtype(np.float32))
    with pytest.raises(FormatError, match="was not kept"):
        _ = back.array
    assert ARRAY_CODEC.pack(back) == packed


def test_hostile_arrays_are_refused() -> None:
    digest = "0" * 64
    for packed in (
        None,
        [],
        ["f32", [1], digest, b"1"],
        ["f32", [1 << 40, 1 << 40], digest, b""],
        ["f32", [-1], digest, None],
        ["f32", [True], digest, None],
        ["f32", [1] * 40, digest, None],
        ["object", [1], digest, b"12345678"],
        ["bool", [1], digest, b"\2"],
        ["f32", [1], "x", None],
        ["f32", [1000], digest, b"0" * 4000],
    ):
        with pytest.raises((ValueError, IRKitError)):
            ARRAY_CODEC.unpack(packed)
