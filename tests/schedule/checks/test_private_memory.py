"""Primitives that would make threads read each other's elements of private memory are refused."""

from collections.abc import Callable

import numpy as np
import pytest

import irkit
from irkit.core import ScheduleError
from irkit.ir import interpret, parse
from irkit.schedule import Schedule

SUM = """def f(A: f32[8, 8], C: f32[8, 8]):
    for i in serial(0, 8):
        for j in serial(0, 8):
            with block("C"):
                vi = axis.spatial(8, i)
                vj = axis.spatial(8, j)
                C[vi, vj] = A[vi, vj] + f32(1.0)
"""


def bound(sch: Schedule) -> None:
    i, j = sch.get_loops(sch.get_block("C"))
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")


def same_as_before(sch: Schedule) -> None:
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    found = [np.zeros((8, 8), np.float32) for _ in range(2)]
    interpret(sch.func, a, found[0])
    irkit.build(sch.func)(a, found[1])
    for each in found:
        np.testing.assert_array_equal(each, a + 1)


def cache_write(sch: Schedule) -> None:
    bound(sch)
    sch.cache_write(sch.get_block("C"), "local")


def set_scope(sch: Schedule) -> None:
    bound(sch)
    sch.cache_write(sch.get_block("C"), "global")
    sch.set_scope(sch.get_block("C"), "local")


def bind(sch: Schedule) -> None:
    sch.cache_write(sch.get_block("C"), "local")
    bound(sch)


@pytest.mark.parametrize("steps", [cache_write, set_scope, bind])
def test_what_one_thread_writes_is_not_read_outside(steps: Callable[[Schedule], None]) -> None:
    sch = Schedule(parse(SUM))
    with pytest.raises(ScheduleError) as caught:
        steps(sch)
    assert caught.value.message == (
        f"cannot {steps.__name__}: each thread has its own "
        f"{'C_local' if steps is not set_scope else 'C_global'!r} (scope 'local'), and what is "
        "outside the threads would read what one of them has written"
    )
    same_as_before(sch)


def test_what_one_thread_writes_another_one_does_not_read() -> None:
    text = SUM.replace("C[vi, vj] = A[vi, vj] + f32(1.0)", "C[vi, vj] = T[vi, 7 - vj] + f32(1.0)")
    lines = text.splitlines(keepends=True)
    first = SUM.splitlines(keepends=True)[1:]
    copy = "".join(first).replace("C[vi, vj] = A[vi, vj] + f32(1.0)", "T[vi, vj] = A[vi, 7 - vj]")
    copy = copy.replace('"C"', '"T"').replace("i in", "i0 in").replace("j in", "j0 in")
    copy = copy.replace("(8, i)", "(8, i0)").replace("(8, j)", "(8, j0)")
    sch = Schedule(parse(lines[0] + "    T = alloc(f32[8, 8])\n" + copy + "".join(lines[1:])))
    for name in ("T", "C"):
        sch.bind(sch.get_loops(sch.get_block(name))[1], "threadIdx.x")
    with pytest.raises(ScheduleError, match=r"has its own 'T'.* may read what another one wrote"):
        sch.set_scope(sch.get_block("T"), "local")
    sch.set_scope(sch.get_block("T"), "shared")
    same_as_before(sch)


def test_a_copy_in_the_same_thread_is_legal() -> None:
    sch = Schedule(parse(SUM))
    copy = sch.cache_write(sch.get_block("C"), "local")
    sch.reverse_compute_at(copy, sch.get_loops(sch.get_block("C"))[1])
    bound(sch)
    same_as_before(sch)


def test_what_was_copied_before_the_threads_each_of_them_has() -> None:
    sch = Schedule(parse(SUM))
    sch.cache_read(sch.get_block("C"), "A", "local")
    bound(sch)
    same_as_before(sch)
