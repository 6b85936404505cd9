"""reindex_cache_write: a block writes to a copy laid out by a map of its axes."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Block
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul_relu


@settings(max_examples=15, deadline=None, derandomize=True)
@given(m=st.integers(1, 6), n=st.integers(1, 9), k=st.integers(1, 4), tile=st.integers(1, 5))
def test_packed_operands_give_the_same(m: int, n: int, k: int, tile: int) -> None:
    sch = Schedule(matmul_relu(m, n, k), check="each")
    block = sch.get_block("C")
    sch.reindex_cache_read(block, "B", "global", lambda i, j, r: (j // tile, r, j % tile))
    sch.reindex_cache_read(block, 1, "local", lambda i, j, r: (r, m - 1 - i))
    sch.reindex_cache_write(block, 0, "local", lambda i, j, r: (j // tile, i, j % tile))
    assert len(list(walk(sch.func, on=Block))) == 5


def test_sizes_may_be_symbolic() -> None:
    n = te.var("n")
    a = te.placeholder((n, 4), name="A")
    b = te.compute((4, n), lambda i, j: a[j, i] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    sch.reindex(sch.get_block("B"), "A")
    with pytest.raises(ScheduleError, match="has no constant bounds"):
        sch.reindex_cache_write(sch.get_block("B"), "B", "local", lambda i, j: (j // 4, i, j % 4))
    with pytest.raises(ScheduleError, match="cannot be proved that the map is injective"):
        sch.reindex_cache_write(sch.get_block("B"), "B", "local", lambda i, j: (i, j % 4))
