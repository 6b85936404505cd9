"""cache_read: a block reads a copy of a buffer that does not change in between."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import Buffer
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, block_names, chain, matmul


def test_a_cached_operand_is_copied_in() -> None:
    sch = Schedule(matmul(4, 5, 6))
    a = sch.func.params[0]
    assert isinstance(a, Buffer)
    made = sch.cache_read(sch.get_block("C"), a)
    assert block_names(sch.func) == [made.name, "C"]
    sch.transform_layout(made, lambda i, j: [j, i])
    assert_same_results(matmul(4, 5, 6), sch.func)


def test_a_buffer_written_in_the_same_loops_cannot_be_cached() -> None:
    sch = Schedule(matmul(4, 5, 6))
    c = sch.func.params[2]
    assert isinstance(c, Buffer)
    with pytest.raises(ScheduleError, match="written in the same loops"):
        sch.cache_read(sch.get_block("C"), c)


def test_copies_of_copies_have_unique_names() -> None:
    sch = Schedule(chain(8), check="each")
    block = sch.get_block("B")
    made = [sch.reindex(block, "A"), sch.cache_read(block, "A_reindex", "reindex")]
    made.append(sch.cache_read(block, "A_reindex_reindex", "reindex"))
    assert len(set(made)) == 3
    again = Schedule(chain(8))
    sch.trace.apply(again)
