"""reverse_compute_inline: a pointwise consumer is folded into its producer."""

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import Schedule
from tests.schedule.kernels import block_names, chain, matmul_relu
from tests.schedule.programs import refuses

IF_ASKED = """def f(A: f32[8], C: f32[8], n: i64):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
    if n > 4:
        for i in serial(0, 8):
            with block("C"):
                v = axis.spatial(8, i)
                C[v] = B[v]
"""


def test_a_copy_in_a_loop_of_the_consumer_is_not_used_in_front_of_it() -> None:
    d = te.placeholder((8,), name="E")
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i] * d[i], name="C")
    sch = Schedule(te.create_prim_func([a, d, c]), check="each")
    sch.write_at(sch.get_loops(sch.get_block("C"))[0], sch.get_block("C"), "C")
    with pytest.raises(ScheduleError):
        sch.reverse_compute_inline(sch.get_block("C"))


def test_a_consumer_inside_an_if_is_not_folded_into_its_producer() -> None:
    reason = "inside an `if`"
    refuses(parse(IF_ASKED), lambda s: s.reverse_compute_inline(s.get_block("C")), reason)


def test_a_consumer_of_a_part_is_not_folded_into_a_producer_of_the_whole() -> None:
    sch = Schedule(chain(8), check="each")
    (i,) = sch.get_loops(sch.get_block("D"))
    sch.compute_at(sch.get_block("C"), i)
    sch.write_at(i, sch.get_block("D"), "D")
    out = sch.get_block("D_local_out")
    sch.cache_read(out, 0, "shared")
    with pytest.raises(ScheduleError, match="runs all of one block and only"):
        sch.reverse_compute_inline(out)


def test_a_consumer_is_folded_into_its_producer() -> None:
    sch = Schedule(chain(8), check="each")
    sch.reverse_compute_inline(sch.get_block("C"))
    assert block_names(sch.func) == ["B", "D"]
    sch.reverse_compute_inline(sch.get_block("D"))
    assert block_names(sch.func) == ["B"]


def test_a_transposed_consumer_stores_transposed() -> None:
    a = te.placeholder((3, 5), name="A")
    b = te.compute((3, 5), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((5, 3), lambda i, j: b[j, i] * b[j, i] + i, name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    (i, j) = sch.get_loops(sch.get_block("B"))
    sch.split(j, [None, 2])
    sch.split(sch.fuse(*sch.get_loops(sch.get_block("C"))), [None, 4])
    sch.reverse_compute_inline(sch.get_block("C"))
    assert block_names(sch.func) == ["B"]
    assert sch.get_loops(sch.get_block("B"))[0].var is i.var


def test_no_consumer_is_folded_into_a_reduction() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    with pytest.raises(ScheduleError, match="reduces, so its elements are not final"):
        sch.reverse_compute_inline(sch.get_block("D"))


def test_a_consumer_that_reduces_is_refused() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    with pytest.raises(ScheduleError, match="it reduces"):
        sch.reverse_compute_inline(sch.get_block("C"))


PAIR = """def f(A: f32[8], D: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("P"):
            v = axis.spatial(8, i)
            B[v] = A[v] + f32(1.0)
    for i in serial(0, 8):
        with block("Q"):
            v = axis.spatial(8, i)
            D[v] = A[v]
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v] * f32(2.0)
"""


def test_an_unrelated_block_in_between_is_passed() -> None:
    sch = Schedule(parse(PAIR), check="each")
    sch.reverse_compute_inline(sch.get_block("C"))
    assert block_names(sch.func) == ["P", "Q"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("B[v] * f32(2.0)", "B[7 - v]", "one for one"),
        ("B[v] * f32(2.0)", "B[v] + B[0]", "one for one"),
        ("B[v] * f32(2.0)", "B[v] + D[v]", "one producer"),
        ("B[v] * f32(2.0)", "A[v]", "one producer"),
        ("B[v] * f32(2.0)", "B[v] + C[v]", "read there before"),
        ("D[v] = A[v]", "D[v] = B[v]", "used elsewhere"),
        ("D[v] = A[v]", "D[v] = C[v]", "reads 'C' before it"),
        ("D[v] = A[v]", "C[v] = A[v]", "other blocks also write"),
        ("C[v] = B[v]", "C[0] = B[v]", "does not write at its own axes"),
        (
            "            B[v] = A[v]",
            "            where(v < 5)\n            B[v] = A[v]",
            "cannot be proved",
        ),
        ("            C[v] =", "            where(v < 5)\n            C[v] =", "cannot be proved"),
        ("    B = alloc(f32[8])\n", "", "a parameter"),
    ],
)
def test_a_consumer_that_cannot_be_folded_is_refused(old: str, new: str, reason: str) -> None:
    assert old in PAIR
    text = PAIR.replace(old, new)
    if not new:
        text = text.replace("C: f32[8])", "C: f32[8], B: f32[8])")
    sch = Schedule(parse(text))
    before = sch.func
    with pytest.raises(ScheduleError, match=reason):
        sch.reverse_compute_inline(sch.get_block("C"))
    assert sch.func is before


def test_the_trace_runs_again() -> None:
    sch = Schedule(chain(8))
    sch.reverse_compute_inline(sch.get_block("D"))
    again = Schedule(chain(8))
    sch.trace.apply(again)
    assert again.mod.script() == sch.mod.script()
