"""Tiles of reductions: overlapping tails, groups, room for lanes beyond a short line, blocks."""

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from irkit.autoschedule import Machine, auto_schedule
from irkit.core import walk
from irkit.ir import Add, Allocate, Block, Load, PrimFunc, Store, as_int, verify
from irkit.phases import DEFAULT
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.state.lookup import loops_above
from tests.autoschedule.test_auto_schedule import agree, conv_relu

SMALL = Machine(vector_bytes=16, vector_registers=16, l1=1024, l2=2048)
"""Short vectors and caches: the sizes of a test then have several tiles and blocks."""


def sums_of(scheduled: PrimFunc) -> list[Store]:
    """Return the stores of a lowered tile that add to a sum."""
    lowered = DEFAULT.run(scheduled)
    local = {a.buffer for a in walk(lowered, on=Allocate) if a.buffer.scope == "local"}
    stores = [store for store in walk(lowered, on=Store) if store.buffer in local]
    return [store for store in stores if isinstance(store.value, Add)]


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    channels=st.integers(1, 2),
    size=st.integers(5, 10),
    out=st.sampled_from([1, 3, 7]),
    kernel=st.sampled_from([1, 3]),
    stride=st.integers(1, 2),
    groups=st.sampled_from([1, 2]),
    machine=st.sampled_from([SMALL, Machine.with_vectors(32)]),
)
def test_ragged_tiles_compute_the_same(
    channels: int, size: int, out: int, kernel: int, stride: int, groups: int, machine: Machine
) -> None:
    func = conv_relu(channels, size, out, kernel, kernel // 2, stride, groups)
    scheduled = auto_schedule(func, machine)
    assert verify(scheduled) == []
    agree(func, scheduled, native=DEFAULT.run(scheduled))


@pytest.mark.parametrize("size", [7, 14, 13])
def test_no_step_of_a_sum_has_a_mask_or_a_condition(size: int) -> None:
    func = conv_relu(4, size, 6, 3, 1, 1)
    scheduled = auto_schedule(func, Machine.with_vectors(32))
    sums = sums_of(scheduled)
    assert sums
    for store in sums:
        assert store.mask is None
        assert all(load.mask is None for load in walk(store.value, on=Load))


def test_filters_of_a_group_share_what_they_read_whatever_their_number() -> None:
    scheduled = auto_schedule(conv_relu(4, 16, 11, 3, 1, 1, groups=2), Machine.with_vectors(32))
    lowered = DEFAULT.run(scheduled)
    (tile,) = [a.buffer for a in walk(lowered, on=Allocate) if a.buffer.scope == "local"]
    assert (as_int(tile.shape[0]) or 0) >= 8 * 8


def test_an_input_larger_than_the_cache_is_read_in_blocks() -> None:
    func = conv_relu(2, 12, 32, 3, 1, 1)
    common = msgspec.structs.replace(SMALL, l2=1 << 20)
    plain, blocked = auto_schedule(func, common), auto_schedule(func, SMALL)

    def depth(scheduled: PrimFunc) -> int:
        """Return the number of loops of the nest with the tile."""
        (sums,) = [b for b in walk(scheduled, on=Block) if b.name == "conv"]
        return len(loops_above(scheduled, sums))

    assert depth(blocked) == depth(plain) + 1
    agree(func, blocked, native=DEFAULT.run(blocked))


def test_what_lanes_beyond_a_line_read_is_stored_before() -> None:
    """Memory that nobody wrote may hold denormals, which are slow to multiply."""
    func = conv_relu(2, 7, 4, 3, 1, 1)
    scheduled = auto_schedule(func, Machine.with_vectors(32))
    (pad,) = [a.buffer for a in walk(scheduled, on=Allocate) if a.buffer.name.startswith("pad")]
    assert [as_int(dim) for dim in pad.shape] == [1, 2, 9, 10], "the last lane reads the tenth"
    (block,) = [b for b in walk(scheduled, on=Block) if b.name == "pad"]
    points = points_of(scheduled, block)
    assert [as_int(axis.extent) for axis in block.axes] == [1, 2, 9, 10]
    assert points.covers_all_points()
