"""reindex_cache_read: a block reads a copy laid out by a map of its axes."""

import pytest

from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul


def test_a_map_that_is_not_injective_is_refused() -> None:
    sch = Schedule(matmul(4, 4, 4))
    block = sch.get_block("C")
    with pytest.raises(ScheduleError, match="injective"):
        sch.reindex_cache_read(block, "A", "local", lambda i, j, r: (i // 2, r))
    with pytest.raises(ScheduleError, match="axis 'vj'"):
        sch.reindex_cache_read(block, "A", "local", lambda i, j, r: (i, r, j))
    with pytest.raises(ScheduleError, match="negative"):
        sch.reindex_cache_read(block, "A", "local", lambda i, j, r: (i - 2, r))


def test_reindex_cache_read_refuses_a_buffer_that_the_block_writes() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="also writes"):
        sch.reindex_cache_read(sch.get_block("C"), "C", "local", lambda i, j, r: (i, j))
