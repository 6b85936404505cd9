"""fuse_reduction_epilogue: a sum is initialised with what is added to its result."""

from collections.abc import Callable
from typing import Any

import pytest

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Block, PrimFunc
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul_relu


def biased(last: Callable[..., Any] | None = None) -> PrimFunc:
    a, b = te.placeholder((4, 3), name="A"), te.placeholder((3, 5), name="B")
    bias = te.placeholder((5,), name="bias")
    r = te.reduce_axis((0, 3), name="r")
    c = te.compute((4, 5), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    fcompute = last or (lambda c, bias, i, j: c[i, j] + bias[j])
    d = te.compute((4, 5), lambda i, j: fcompute(c, bias, i, j), name="D")
    return te.create_prim_func([a, b, bias, d])


def test_a_sum_is_initialised_with_its_bias() -> None:
    sch = Schedule(biased(), check="each")
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.split(i, [None, 3])
    sch.fuse_reduction_epilogue(sch.get_block("C"), sch.get_block("D"))
    assert [block.name for block in walk(sch.func, on=Block)] == ["C"]
    again = Schedule(biased())
    sch.trace.apply(again)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (lambda c, bias, i, j: te.maximum(c[i, j], 0.0), "does not add"),
        (lambda c, bias, i, j: te.minimum(te.maximum(c[i, j], 0.0), 6.0), "does not add"),
        (lambda c, bias, i, j: c[i, j] * bias[j], "does not add"),
        (lambda c, bias, i, j: c[i, j] + c[0, 0], "does not add"),
        (lambda c, bias, i, j: c[3 - i, j] + bias[j], "read each element of the sum exactly once"),
    ],
)
def test_an_epilogue_that_is_not_an_addition_is_refused(
    last: Callable[..., Any], reason: str
) -> None:
    sch = Schedule(biased(last))
    with pytest.raises(ScheduleError, match=reason):
        sch.fuse_reduction_epilogue(sch.get_block("C"), sch.get_block("D"))


def test_relu_is_not_fused() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    with pytest.raises(ScheduleError, match="does not add"):
        sch.fuse_reduction_epilogue(sch.get_block("C"), sch.get_block("D"))
    with pytest.raises(ScheduleError, match="not a sum"):
        sch.fuse_reduction_epilogue(sch.get_block("D"), sch.get_block("C"))
