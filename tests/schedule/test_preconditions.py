"""Preconditions of all primitives: each violation is refused with the reason, and changes
nothing."""

from collections.abc import Callable

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.ir import Expr, PrimFunc, parse
from irkit.schedule import LoopRef, Schedule
from tests.schedule.kernels import chain, matmul, matmul_relu

TRIANGLE = """def f(A: f32[6, 6]):
    for i in serial(0, 6):
        for j in serial(0, i):
            with block("A"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                A[v, w] = A[v, w] + f32(1.0)
"""

OPAQUE = """def f(A: f32[4, 5]):
    for i in serial(0, 4):
        for j in serial(0, 5):
            with block("A"):
                v = axis.opaque(4, i)
                w = axis.spatial(5, j)
                A[v, w] = A[v, w] + f32(1.0)
"""

TWO_STORES = """def f(A: f32[8], C: f32[8], D: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v] = A[v]
            D[v] = A[v]
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = B[v]
"""

HALVES = """def f(A: f32[8], C: f32[8]):
    B = alloc(f32[8])
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[v // 2] = A[v]
    for i in serial(0, 4):
        with block("C"):
            v = axis.spatial(4, i)
            C[v] = B[v]
"""

TWO_WRITERS = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 4):
        with block("B"):
            v = axis.spatial(4, i)
            C[v] = A[v]
    for i in serial(0, 4):
        with block("C"):
            v = axis.spatial(4, i)
            C[v + 4] = A[v]
"""


def loops(sch: Schedule, block: str = "C") -> list[LoopRef]:
    return sch.get_loops(sch.get_block(block))


def annotated(sch: Schedule) -> list[LoopRef]:
    found = loops(sch)
    sch.annotate(found[0], "mine", 1)
    return found


def bound(sch: Schedule) -> list[LoopRef]:
    found = loops(sch)
    sch.bind(found[0], "blockIdx.x")
    return found


def shifted(sch: Schedule) -> list[LoopRef]:
    found = loops(sch)
    sch.shift_loop(found[0], 2)
    return found


def twice(i: Expr) -> Expr:
    return i // 2


Call = Callable[[Schedule], object]
ROWS: dict[str, tuple[PrimFunc, Call, str]] = {
    "a bound loop is not split": (
        matmul(4, 6, 5),
        lambda s: s.split(bound(s)[0], [2, 2]),
        "marked blockIdx.x|marked thread",
    ),
    "a bound loop is not partitioned": (
        matmul(4, 6, 5),
        lambda s: s.loop_partition(bound(s)[0], [2, 2]),
        "marked",
    ),
    "an annotated loop is not fused": (
        matmul(4, 6, 5),
        lambda s: s.fuse(*annotated(s)[:2]),
        "marked mine",
    ),
    "a bound loop is not fused": (matmul(4, 6, 5), lambda s: s.fuse(*bound(s)[:2]), "marked"),
    "a loop that does not start at 0 is not fused": (
        matmul(4, 6, 5),
        lambda s: s.fuse(*shifted(s)[:2]),
        "does not start at 0",
    ),
    "loops whose bounds depend on each other are not fused": (
        parse(TRIANGLE),
        lambda s: s.fuse(*loops(s, "A")),
        "depends on 'i'",
    ),
    "a loop is not moved around one that bounds it": (
        parse(TRIANGLE),
        lambda s: s.reorder(*reversed(loops(s, "A"))),
        "would be inside it",
    ),
    "a loop is not ordered twice": (
        matmul(4, 6, 5),
        lambda s: s.reorder(loops(s)[0], loops(s)[0]),
        "a loop twice",
    ),
    "an opaque axis is not moved": (
        parse(OPAQUE),
        lambda s: s.reorder(*reversed(loops(s, "A"))),
        "opaque axis",
    ),
    "a bound loop is not unrolled": (matmul(4, 6, 5), lambda s: s.unroll(bound(s)[0]), "bound|is "),
    "two stores are not inlined": (
        parse(TWO_STORES),
        lambda s: s.compute_inline(s.get_block("B")),
        "not a single store",
    ),
    "a store that is not one to one is not inlined": (
        parse(HALVES),
        lambda s: s.compute_inline(s.get_block("B")),
        "at its own axes",
    ),
    "one of two writers is not cached": (
        parse(TWO_WRITERS),
        lambda s: s.cache_write(s.get_block("C")),
        "the only writer",
    ),
    "what a block does not read is not cached": (
        chain(8),
        lambda s: s.cache_read(s.get_block("C"), "A"),
        "reads no buffer 'A'",
    ),
    "a block that does not reduce has no initialisation": (
        chain(8),
        lambda s: s.decompose_reduction(s.get_block("C"), loops(s)[0]),
        "no initialisation",
    ),
    "a reduction is not initialised before a loop that is not around it": (
        matmul_relu(4, 6, 5),
        lambda s: s.decompose_reduction(s.get_block("C"), loops(s, "D")[0]),
        "not around block",
    ),
    "the scope of a parameter does not change": (
        chain(8),
        lambda s: s.set_scope(s.get_block("D"), "local"),
        "'D' is a parameter",
    ),
    "a map that is not injective is not a layout of a block": (
        chain(8),
        lambda s: s.transform_block_layout(s.get_block("C"), twice),
        "cannot express axis",
    ),
    "what is computed once gets no circular buffer": (
        chain(8),
        lambda s: s.rolling_buffer(s.get_block("B")),
        "computed once",
    ),
    "windows that do not overlap get no circular buffer": (
        chain(8),
        lambda s: (
            s.compute_at(s.get_block("C"), loops(s, "D")[0]),
            s.rolling_buffer(s.get_block("C")),
        ),
        "do not overlap",
    ),
    "a block that is not under a loop gets no copy there": (
        chain(8),
        lambda s: s.read_at(loops(s)[0], s.get_block("D"), "C"),
        "not under the loop",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_violated_precondition_is_refused(row: str) -> None:
    func, call, reason = ROWS[row]
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match=reason) as caught:
        call(sch)
    assert str(caught.value)
    steps = sch.trace
    again = Schedule(func)
    steps.apply(again)
    assert again.mod.script() == sch.mod.script()


def test_a_stage_that_is_a_tuple_is_not_inlined() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: (a[i] + 1.0, a[i] - 1.0), name="B")
    c = te.compute((8,), lambda i: b[0][i] * b[1][i], name="C")
    sch = Schedule(te.create_prim_func([a, c]))
    with pytest.raises(ScheduleError, match="not a single store"):
        sch.compute_inline(sch.get_block("B"))
