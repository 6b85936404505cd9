"""add_unit_loop: a loop that runs once is added around a statement."""

from irkit.ir import script
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul


def test_a_unit_loop_is_added_around_a_block_or_a_loop() -> None:
    sch = Schedule(matmul(2, 3, 4), check="each")
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    inner, outer = sch.add_unit_loop(block), sch.add_unit_loop(j)
    assert [ref.var for ref in sch.get_loops(block)] == [ref.var for ref in (i, outer, j, r, inner)]
    assert script(sch.loop(outer).end) == "1"
