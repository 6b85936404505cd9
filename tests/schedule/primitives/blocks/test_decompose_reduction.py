"""decompose_reduction: the init of a reduction becomes a separate block before a loop."""

import numpy as np
import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import interpret, parse, script
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, block_names, matmul, matmul_relu


def test_the_init_of_a_reduction_becomes_a_separate_block() -> None:
    sch = Schedule(matmul(3, 4, 5))
    block = sch.get_block("C")
    made = sch.decompose_reduction(block, sch.get_loops(block)[1])
    assert made.name == "C_init"
    assert block_names(sch.func) == ["C_init", "C"]
    assert_same_results(matmul(3, 4, 5), sch.func)


def test_an_init_inside_the_reduction_is_refused() -> None:
    sch = Schedule(matmul(3, 4, 5))
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    sch.reorder(r, i, j)
    with pytest.raises(ScheduleError, match="is a reduction loop"):
        sch.decompose_reduction(block, i)


GUARDED = """
def f(A: f32[16, 8], C: f32[16]):
    for i in serial(0, 4):
        for j in serial(i * 4, i * 4 + 4):
            for r in serial(0, 8):
                with block("C"):
                    v = axis.spatial(16, j)
                    q = axis.reduce(8, r)
                    where(v < 13 and q < 7)
                    with init():
                        C[v] = f32(0.0)
                    C[v] = C[v] + A[v, q]
"""


@pytest.mark.parametrize("at", [1, 2])
def test_an_init_has_the_guards_of_its_elements(at: int) -> None:
    sch = Schedule(parse(GUARDED), check="each")
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[at])
    assert block_names(sch.func) == ["C_init", "C"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("q < 7", "q >= 1", "its first step initialises it"),
        ("serial(0, 8)", "serial(1, 8)", "its first step initialises it"),
        ("16, j", "16, j // 2", "write different elements"),
        ("i * 4, i * 4 + 4", "0, 16", "write different elements"),
        ("v = axis.spatial(16, j)", "v = axis.opaque(16, j)", "opaque axis 'v'"),
    ],
)
def test_an_init_that_would_run_more_or_less_often_is_refused(
    old: str, new: str, reason: str
) -> None:
    assert old in GUARDED
    sch = Schedule(parse(GUARDED.replace(old, new)), check="each")
    block = sch.get_block("C")
    at = 0 if "elements" in reason else 1
    with pytest.raises(ScheduleError, match=reason):
        sch.decompose_reduction(block, sch.get_loops(block)[at])


def test_loops_with_bounds_that_depend_on_the_reduction_are_not_copied_for_an_init() -> None:
    text = GUARDED.replace("axis.reduce(8, r)", "axis.reduce(8, i)").replace("i * 4", "i")
    sch = Schedule(parse(text))
    block = sch.get_block("C")
    with pytest.raises(
        ScheduleError, match="'i' of block 'C' is used both as a reduction loop and otherwise"
    ):
        sch.decompose_reduction(block, sch.get_loops(block)[0])


def test_an_init_over_fused_loops_of_any_size_becomes_a_separate_block() -> None:
    n, k = te.var("n"), te.var("k")
    a = te.placeholder((n, n, k), name="A")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, j, r], axis=r), name="C")
    sch = Schedule(te.create_prim_func([a, c]))
    block = sch.get_block("C")
    fused = sch.fuse(*sch.get_loops(block)[:2])
    assert sch.decompose_reduction(block, fused).name == "C_init"


@pytest.mark.parametrize("primitive", ["decompose_reduction", "reverse_compute_at"])
def test_a_loop_that_is_both_reduced_over_and_not_is_refused(primitive: str) -> None:
    sch = Schedule(matmul_relu(4, 6, 5))
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    fused = sch.fuse(j, r)
    args = (block, fused) if primitive == "decompose_reduction" else (sch.get_block("D"), i)
    with pytest.raises(ScheduleError, match="used both as a reduction loop and otherwise"):
        getattr(sch, primitive)(*args)
    assert_same_results(matmul_relu(4, 6, 5), sch.func)


def test_the_guard_of_a_split_also_applies_to_the_init_of_the_reduction() -> None:
    sch = Schedule(matmul(3, 5, 4))
    block = sch.get_block("C")
    _, j, r = sch.get_loops(block)
    far, near = sch.split(j, [None, 4])
    sch.reorder(far, r, near)
    sch.decompose_reduction(block, r)
    assert_same_results(matmul(3, 5, 4), sch.func)


STARTED = """def f(A: f32[6, 4], C: f32[6], D: f32[6], n: i64):
    for i in serial(0, 6):
{first}        for k in serial(0, 4):
            with block("C"):
                vi = axis.spatial(6, i)
                vk = axis.reduce(4, k)
                with init():
                    C[vi] = f32(0.0)
                C[vi] = C[vi] + A[vi, vk]
{last}"""
READS = """        with block("D"):
            v = axis.spatial(6, i)
            D[v] = C[{at}]
"""


@pytest.mark.parametrize(
    ("first", "last", "legal"),
    [
        ("", READS.format(at="v"), True),
        (READS.format(at="v"), "", False),
        ("", READS.format(at="5 - v"), False),
        ("", READS.format(at="v").replace("D[v] =", "C[v] = D[v] +"), False),
    ],
    ids=["read after", "read before", "read ahead", "written"],
)
def test_an_init_does_not_move_past_a_block_that_accesses_the_elements(
    first: str, last: str, legal: bool
) -> None:
    sch = Schedule(parse(STARTED.format(first=first, last=last)), check="each")
    block = sch.get_block("C")
    if legal:
        sch.decompose_reduction(block, sch.get_loops(block)[0])
        return
    with pytest.raises(ScheduleError, match="accesses the buffer too"):
        sch.decompose_reduction(block, sch.get_loops(block)[0])


def test_an_init_does_not_leave_an_if() -> None:
    text = """def f(A: f32[6, 4], C: f32[6]):
    for i in serial(0, 6):
        if i < 3:
            for k in serial(0, 4):
                with block("C"):
                    vi = axis.spatial(6, i)
                    vk = axis.reduce(4, k)
                    with init():
                        C[vi] = f32(0.0)
                    C[vi] = C[vi] + A[vi, vk]
"""
    sch = Schedule(parse(text), check="each")
    block = sch.get_block("C")
    with pytest.raises(ScheduleError, match="other than loops"):
        sch.decompose_reduction(block, sch.get_loops(block)[0])
    sch.decompose_reduction(block, sch.get_loops(block)[1])


EMPTY = """
def f(A: f32[4, n], C: f32[4]):
    for i in serial(0, 4):
        with block("B"):
            v = axis.spatial(4, i)
            C[v] = f32(7.0)
    for i in serial(0, 4):
        for r in serial(0, n):
            with block("C"):
                v = axis.spatial(4, i)
                q = axis.reduce(n, r)
                with init():
                    C[v] = f32(0.0)
                C[v] = C[v] + A[v, q]
"""


def test_an_init_does_not_run_for_a_reduction_that_is_empty() -> None:
    sch = Schedule(parse(EMPTY))
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[1])
    assert "where(n >= 1)" in script(sch.func)
    for n, expected in ((0, 7.0), (2, 2.0)):
        made = np.zeros(4, np.float32)
        interpret(sch.func, np.ones((4, n), np.float32), made)
        assert made.tolist() == [expected] * 4
