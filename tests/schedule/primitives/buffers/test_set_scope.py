"""set_scope: a buffer is stored in another scope."""

from irkit.core import walk
from irkit.ir import Allocate
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, matmul


def test_the_scope_of_a_buffer_with_a_guarded_sum_can_be_set() -> None:
    sch = Schedule(matmul(2, 3, 5))
    *_, r = sch.get_loops(sch.get_block("C"))
    _, part = sch.split(r, [None, 2])
    block = sch.rfactor(part)
    sch.set_scope(block, "local")
    scopes = [each.buffer.scope for each in walk(sch.func, on=Allocate)]
    assert scopes == ["local"]
    assert_same_results(matmul(2, 3, 5), sch.func)
