"""cache_write: a block writes to a new buffer, which is copied to the old one."""

import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, block_names, chain, matmul
from tests.schedule.programs import IN_PLACE, refuses


def test_a_cached_result_is_copied_out() -> None:
    sch = Schedule(matmul(4, 5, 6))
    made = sch.cache_write(sch.get_block("C"), "local")
    assert block_names(sch.func) == ["C", made.name]
    (home,) = walk(sch.func, on=Allocate)
    assert home.buffer.scope == "local"
    assert_same_results(matmul(4, 5, 6), sch.func)


@pytest.mark.parametrize("name", ["B", "A"])
def test_a_result_is_cached_only_where_all_of_it_is_written(name: str) -> None:
    reason = "cannot be proved to write all"
    refuses(parse(IN_PLACE), lambda s: s.cache_write(s.get_block(name)), reason)


def test_a_result_computed_in_the_loop_of_another_block_is_not_cached() -> None:
    sch = Schedule(chain(8), check="each")
    (i,) = sch.get_loops(sch.get_block("D"))
    sch.compute_at(sch.get_block("C"), i)
    with pytest.raises(ScheduleError, match="cannot be proved to write all"):
        sch.cache_write(sch.get_block("C"))


def test_a_result_cached_twice_is_copied_by_blocks_of_two_names() -> None:
    sch = Schedule(chain(8), check="each")
    first = sch.cache_write(sch.get_block("B"))
    second = sch.cache_write(sch.get_block("B"))
    assert first != second
    again = Schedule(chain(8))
    sch.trace.apply(again)
