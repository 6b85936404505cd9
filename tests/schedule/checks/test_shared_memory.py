"""Threads store common values, or separate elements, in shared memory."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule

OWN = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        B = alloc(f32[8])
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = B[w] + A[w]
"""


def test_values_of_one_thread_are_not_copied_to_shared_memory() -> None:
    sch = Schedule(parse(OWN))
    (i,) = sch.get_loops(sch.get_block("C"))
    sch.bind(i, "threadIdx.x")
    before = sch.func
    with pytest.raises(ScheduleError, match=r"cannot cache_read: threads 'i' share that memory"):
        sch.cache_read(sch.get_block("C"), "B", "shared")
    assert sch.func is before
    sch.cache_read(sch.get_block("C"), "B", "local")


def test_threads_are_not_bound_where_each_would_overwrite_the_copy_of_others() -> None:
    sch = Schedule(parse(OWN))
    sch.cache_read(sch.get_block("C"), "B", "shared")
    (i,) = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="cannot bind: threads 'i' share"):
        sch.bind(i, "threadIdx.x")
    sch.bind(i, "blockIdx.x")


def test_common_values_are_copied_by_each_thread() -> None:
    sch = Schedule(parse(OWN))
    (i,) = sch.get_loops(sch.get_block("C"))
    sch.bind(i, "threadIdx.x")
    sch.cache_read(sch.get_block("C"), "A", "shared")


@pytest.mark.parametrize("may", [True, False])
def test_threads_share_a_buffer_only_if_they_store_to_separate_elements(may: bool) -> None:
    text = OWN if may else OWN.replace("B[v] =", "B[0] =").replace("B[w]", "B[0]")
    sch = Schedule(parse(text))
    (i,) = sch.get_loops(sch.get_block("C"))
    sch.bind(i, "threadIdx.x")
    if may:
        sch.set_scope(sch.get_block("B"), "shared")
    else:
        with pytest.raises(ScheduleError, match="cannot set_scope: threads 'i' share"):
            sch.set_scope(sch.get_block("B"), "shared")
