"""Channels of blocks that a table names, and windows over channels, against loops of Python."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ShapeError
from irkit.topi import nn
from tests.draws import few_or_all
from tests.te.agree import agree

RNG = np.random.default_rng(7)


def test_numbers_pick_channels_and_negative_ones_zeros() -> None:
    x, table = te.placeholder((2, 2, 3, 4), name="x"), te.placeholder((3, 2), "i32", name="t")
    value = RNG.random((2, 2, 3, 4), np.float32)
    numbers = np.array([[7, -1], [0, 3], [99, -5]], np.int32)
    right = np.zeros((2, 3, 3, 2), np.float32)
    for block, lane in np.ndindex(3, 2):
        number = min(int(numbers[block, lane]), 7)
        if number >= 0:
            right[:, block, :, lane] = value[:, number // 4, :, number % 4]
    agree(nn.gather_channels(x, table), {x: value, table: numbers}, right)


def test_each_group_of_filters_reads_the_channels_of_its_row() -> None:
    x, table = te.placeholder((1, 2, 4, 3), name="x"), te.placeholder((2, 2), "i32", name="t")
    w, bias = te.placeholder((4, 2, 2, 5), name="w"), te.placeholder((4, 5), name="b")
    value, filters = RNG.random((1, 2, 4, 3), np.float32), RNG.random((4, 2, 2, 5), np.float32)
    numbers, added = np.array([[5, 0], [-3, 44]], np.int32), RNG.random((4, 5), np.float32)
    right = np.zeros((1, 4, 5, 5), np.float32)
    for block, place, lane, tap, channel in np.ndindex(4, 5, 5, 2, 2):
        number = min(max(int(numbers[block // 2, channel]), 0), 5)
        if 0 <= place + tap - 1 < 4:
            image = value[0, number // 3, place + tap - 1, number % 3]
            right[0, block, place, lane] += image * filters[block, tap, channel, lane]
    right += added[None, :, None]
    made = nn.conv_gathered(x, table, w, bias, pads=(1, 1))
    agree(made, {x: value, table: numbers, w: filters, bias: added}, right)


@settings(max_examples=few_or_all(6, 60), deadline=None, derandomize=True, database=None)
@given(
    blocks=st.integers(1, 3),
    lanes=st.sampled_from([4, 1, 3]),
    size=st.integers(1, 14),
    beta=st.sampled_from([0.75, 0.5, 1.0, 0.6]),
)
def test_windows_over_channels_agree_with_their_definition(
    blocks: int, lanes: int, size: int, beta: float
) -> None:
    x = te.placeholder((2, blocks, 3, lanes), name="x")
    value = RNG.random((2, blocks, 3, lanes), np.float32)
    right = np.zeros_like(value)
    for n, c, p in np.ndindex(2, blocks * lanes, 3):
        window = range(max(0, c - (size - 1) // 2), min(blocks * lanes, c + size // 2 + 1))
        total = sum(float(value[n, k // lanes, p, k % lanes]) ** 2 for k in window)
        one = float(value[n, c // lanes, p, c % lanes])
        right[n, c // lanes, p, c % lanes] = one / (2.0 + 0.4 / size * total) ** beta
    agree(nn.lrn_blocked(x, size, alpha=0.4, beta=beta, bias=2.0), {x: value}, right)


def test_filters_that_no_groups_divide_are_refused() -> None:
    x, table = te.placeholder((1, 2, 4, 3), name="x"), te.placeholder((2, 2), "i32", name="t")
    with pytest.raises(ShapeError, match="3 blocks of filters cannot be divided into 2 groups"):
        nn.conv_gathered(x, table, te.placeholder((3, 1, 2, 5), name="w"))
