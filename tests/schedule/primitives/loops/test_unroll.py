"""unroll: the loop is marked."""

from irkit.core import walk
from irkit.ir import For
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul, outputs


def test_marks_are_part_of_the_loop() -> None:
    sch = Schedule(matmul(4, 4, 4))
    i, j, r = sch.get_loops(sch.get_block("C"))
    sch.parallel(i)
    sch.vectorize(j)
    sch.unroll(r)
    assert [loop.kind for loop in walk(sch.func, on=For)] == ["parallel", "vectorized", "unrolled"]
    assert outputs(sch.func)[2].tolist() == outputs(matmul(4, 4, 4))[2].tolist()
