"""join_loops: two loops over adjacent ranges with the same body become one."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError, same
from irkit.ir import as_scheduled
from irkit.schedule import Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import chain, matmul


@settings(max_examples=few_or_all(8, 20), deadline=None, derandomize=True)
@given(cuts=st.sets(st.integers(1, 8), min_size=1, max_size=3), at=st.integers(0, 2))
def test_loops_that_were_cut_can_be_joined(cuts: set[int], at: int) -> None:
    func = matmul(9, 9, 9)
    sch = Schedule(func, check="each")
    later = loop = sch.get_loops(sch.get_block("C"))[at]
    parts = [loop]
    for cut in sorted(cuts):
        _, later = sch.cut_loop(later, cut)
        parts.append(later)
    for part in parts[1:]:
        sch.join_loops(loop, part)
    assert same(sch.func, as_scheduled(func))


def test_loops_that_do_not_belong_together_are_not_joined() -> None:
    sch = Schedule(chain(8))
    b, c, d = (sch.get_loops(sch.get_block(name))[0] for name in "BCD")
    with pytest.raises(ScheduleError, match="does not directly follow"):
        sch.join_loops(b, d)
    with pytest.raises(ScheduleError, match="begin where the first ends"):
        sch.join_loops(b, c)
    sch.shift_loop(c, 8)
    with pytest.raises(ScheduleError, match="the same body"):
        sch.join_loops(b, c)
    first, second = sch.cut_loop(d, 4)
    sch.unroll(second)
    with pytest.raises(ScheduleError, match="marked unrolled"):
        sch.join_loops(first, second)
