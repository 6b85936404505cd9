"""cache_index: indices with a division are precomputed."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import parse, script
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively


def test_indices_are_computed_ahead() -> None:
    func = parse("""def f(A: f32[4, 3], C: f32[12]):
    for i in serial(0, 12):
        with block("C"):
            v = axis.spatial(12, i)
            C[v] = A[v // 3, v % 3] + A[v // 3, 0]
""")
    sch = Schedule(func, check="each")
    names = [each.name for each in sch.cache_index(sch.get_block("C"))]
    assert names == ["C_index_0", "C_index_1"]
    assert "A[C_index_0[v], C_index_1[v]] + A[C_index_0[v], 0]" in script(sch.func)
    assert_same_natively(func, sch.func)
    with pytest.raises(ScheduleError, match="none contains a division"):
        sch.cache_index(sch.get_block("C"))
