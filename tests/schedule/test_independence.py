"""Loops whose iterations depend on each other are neither reordered nor run at the same time."""

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, matmul

SHIFT = """def f(A: f32[9]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            A[v + 1] = A[v] + f32(1.0)
"""

PAIR = """def f(A: f32[9], B: f32[9], C: f32[9]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = B[w]
"""

WAVE = """def f(A: f32[9, 9]):
    for i in serial(0, 8):
        for j in serial(0, 8):
            with block("B"):
                v = axis.spatial(8, i)
                w = axis.spatial(8, j)
                A[v + 1, w] = A[v, w + 1]
"""


@pytest.mark.parametrize("mark", ["parallel", "vectorize"])
@pytest.mark.parametrize(
    "text",
    [SHIFT, PAIR.replace("= B[w]", "= B[w + 1]"), PAIR.replace("B[v] =", "B[0] =")],
    ids=["carried", "reads ahead", "one element"],
)
def test_iterations_that_share_elements_do_not_run_together(text: str, mark: str) -> None:
    sch = Schedule(parse(text))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="same element"):
        getattr(sch, mark)(loop)


@pytest.mark.parametrize("mark", ["parallel", "vectorize"])
def test_two_blocks_that_pass_on_one_element_may_run_together(mark: str) -> None:
    sch = Schedule(parse(PAIR))
    (loop,) = sch.get_loops(sch.get_block("B"))
    getattr(sch, mark)(loop)


def test_a_wave_is_not_reordered() -> None:
    sch = Schedule(parse(WAVE))
    i, j = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="same element"):
        sch.reorder(j, i)


def test_parts_of_a_fused_loop_are_seen_to_be_apart() -> None:
    sch = Schedule(matmul(5, 7, 2))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    far, near = sch.split(sch.fuse(i, j), [None, 4])
    sch.parallel(far)
    sch.vectorize(near)
    assert_same_results(matmul(5, 7, 2), sch.func)


def test_a_loop_that_overlaps_the_next_tile_is_refused() -> None:
    text = """def f(A: f32[9]):
    for t in serial(0, 3):
        for i in serial(0, 4):
            with block("B"):
                v = axis.spatial(8, t * 2 + i)
                A[v] = f32(1.0)
"""
    sch = Schedule(parse(text))
    tile, _ = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="same element"):
        sch.parallel(tile)


def test_a_block_does_not_move_before_what_it_needs() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: a[i] * 2.0, name="C")
    d = te.compute((8,), lambda i: b[i] + c[i], name="D")
    sch = Schedule(te.create_prim_func([a, d]))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="computes 'C'"):
        sch.reverse_compute_at(sch.get_block("D"), loop)


def test_a_block_is_not_inlined_past_a_change_of_what_it_reads() -> None:
    text = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
    for j in serial(0, 8):
        with block("A"):
            v = axis.spatial(8, j)
            A[v] = f32(0.0)
    for k in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, k)
            C[v] = B[v]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="written again later"):
        sch.compute_inline(sch.get_block("B"))


def test_the_guard_of_a_split_also_holds_for_the_start_of_the_reduction() -> None:
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
def test_an_initialisation_does_not_pass_what_needs_the_elements(
    first: str, last: str, legal: bool
) -> None:
    sch = Schedule(parse(STARTED.format(first=first, last=last)), check="each")
    block = sch.get_block("C")
    if legal:
        sch.decompose_reduction(block, sch.get_loops(block)[0])
        return
    with pytest.raises(ScheduleError, match="touches it as well"):
        sch.decompose_reduction(block, sch.get_loops(block)[0])


def test_an_initialisation_does_not_leave_an_if() -> None:
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
