"""rfactor: a reduction becomes partial results and a final reduction."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, PrimFunc, const, gt, interpret, parse
from irkit.schedule import Schedule, ScheduleTrace
from tests.draws import few_or_all
from tests.schedule.kernels import matmul, matmul_relu


def test_a_reduction_that_may_be_empty_is_factored_with_axes_inside_their_extents() -> None:
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n, 3), name="A")
    r0, r1 = te.reduce_axis((0, m), name="r0"), te.reduce_axis((0, n), name="r1")
    s = te.compute((3,), lambda i: te.sum(a[r0, r1, i], axis=(r0, r1)), name="S")
    sch = Schedule(te.create_prim_func([a, s]), check="each")
    _, outer, inner = sch.get_loops(sch.get_block("S"))
    sch.split(outer, [None, 4])
    _, last = sch.split(inner, [None, 4])
    sch.rfactor(last, 1)


def test_an_empty_reduction_reads_no_partial_results() -> None:
    n = te.var("n")
    a = te.placeholder((4, n), name="A")
    r = te.reduce_axis((0, n), name="r")
    s = te.compute((4,), lambda i: te.sum(a[i, r], axis=r), name="S")
    sch = Schedule(te.create_prim_func([a, s]))
    _, inner = sch.split(sch.get_loops(sch.get_block("S"))[1], [None, 4])
    sch.rfactor(inner)
    for size in (0, 6):
        made = np.ones(4, np.float32)
        interpret(sch.func, np.ones((4, size), np.float32), made)
        assert made.tolist() == [size] * 4


REDUCERS = {"sum": te.sum, "prod": te.prod, "min": te.min, "max": te.max}


def rows(n: int, m: int, k: int, kind: str = "sum", dtype: str = "f32") -> PrimFunc:
    """Make a reduction over two axes."""
    a = te.placeholder((n, m, k), name="A", dtype=dtype)
    y, x = te.reduce_axis((0, m), name="y"), te.reduce_axis((0, k), name="x")
    c = te.compute((n,), lambda i: REDUCERS[kind](a[i, y, x], axis=[y, x]), name="C")
    return te.create_prim_func([a, c])


def test_partial_sums_get_a_new_dimension() -> None:
    sch = Schedule(matmul(3, 4, 10), check="each")
    _, _, r = sch.get_loops(sch.get_block("C"))
    outer, inner = sch.split(r, [None, 4])
    made = sch.rfactor(inner, 1)
    (home,) = walk(sch.func, on=Allocate)
    assert [getattr(dim, "value", None) for dim in home.buffer.shape] == [3, 4, 4]
    assert [loop.var.name for loop in sch.get_loops(made)] == ["i", "j", "r_0", "r_1"]
    assert [loop.var.name for loop in sch.get_loops(sch.get_block("C"))] == ["i", "j", "r_1"]
    sch.reorder(inner, outer)
    sch.vectorize(inner)


@pytest.mark.parametrize("factor_axis", [-3, -2, -1, 0, 1, 2])
def test_the_new_dimension_is_at_the_requested_position(factor_axis: int) -> None:
    sch = Schedule(matmul(2, 3, 5), check="each")
    *_, r = sch.get_loops(sch.get_block("C"))
    sch.rfactor(r, factor_axis)
    (home,) = walk(sch.func, on=Allocate)
    shape = [getattr(dim, "value", None) for dim in home.buffer.shape]
    assert shape.index(5) == factor_axis % 3


@pytest.mark.parametrize("factor_axis", [-4, 3])
def test_a_dimension_that_cannot_be_is_refused(factor_axis: int) -> None:
    sch = Schedule(matmul(2, 3, 5))
    *_, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="has 2 dimensions"):
        sch.rfactor(r, factor_axis)


def test_a_tail_without_a_first_step_leaves_the_identity() -> None:
    sch = Schedule(matmul(2, 2, 3), check="each")
    *_, r = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(r, [4, 2])
    sch.rfactor(outer)


def test_a_reduction_with_another_initial_value_keeps_it() -> None:
    text = """def f(A: f32[8], B: f32[1], C: f32[1]):
    for k in serial(0, 8):
        with block("C"):
            v = axis.reduce(8, k)
            with init():
                C[0] = B[0]
            C[0] = max(A[v], C[0])
"""
    sch = Schedule(parse(text), check="each")
    (k,) = sch.get_loops(sch.get_block("C"))
    _, inner = sch.split(k, [None, 4])
    sch.rfactor(inner)


def test_guarded_elements_stay_unwritten() -> None:
    a = te.placeholder((4, 9), name="A")
    k = te.reduce_axis((0, 9), name="k")
    c = te.compute((4,), lambda i: te.sum(a[i, k], axis=k, where=gt(a[i, k], 0.0)), name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    _, r = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(r, [None, 4])
    sch.rfactor(outer)


def test_a_loop_that_is_not_reduced_over_is_refused() -> None:
    sch = Schedule(matmul(2, 3, 5))
    i, *_ = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="does not reduce over it"):
        sch.rfactor(i)


def test_a_loop_over_two_blocks_is_refused() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.reverse_compute_at(sch.get_block("D"), i)
    with pytest.raises(ScheduleError, match="it contains 2 blocks"):
        sch.rfactor(i)


def test_a_fused_loop_is_refused() -> None:
    sch = Schedule(matmul(2, 3, 5))
    _, j, r = sch.get_loops(sch.get_block("C"))
    fused = sch.fuse(j, r)
    with pytest.raises(ScheduleError, match="used both as a reduction loop and otherwise"):
        sch.rfactor(fused)


REDUCE = """def f(A: f32[8], C: f32[1]):
    for k in serial(0, 8):
        with block("C"):
            v = axis.reduce(8, k)
            with init():
                C[0] = f32(0.0)
            C[0] = C[0] + A[v]
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("C[0] + A[v]", "C[0] - A[v]", "not a sum, product, min, max"),
        ("C[0] + A[v]", "C[0] / A[v]", "not a sum, product, min, max"),
        ("C[0] + A[v]", "C[0] + C[0]", "not a sum, product, min, max"),
        ("axis.reduce(8, k)", "axis.reduce(8, k // 2)", "cannot be proved"),
        ("serial(0, 8)", "serial(1, 8)", "does not start at 0"),
        ("            with init():\n                C[0] = f32(0.0)\n", "", "with an init"),
        ("C[0] + A[v]", "C[0] + A[k]", "other than through its axes"),
        ("axis.reduce(8, k)", "axis.opaque(8, k)", "opaque"),
    ],
)
def test_a_reduction_that_cannot_be_factored_is_refused(old: str, new: str, reason: str) -> None:
    assert old in REDUCE
    sch = Schedule(parse(REDUCE.replace(old, new)))
    (k,) = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match=reason):
        sch.rfactor(k)


SHARED = """        with block("D"):
            w = axis.spatial(8, k)
            A[w] = f32(0.0)
"""


def test_a_reduction_that_shares_its_loop_is_refused() -> None:
    sch = Schedule(parse(REDUCE + SHARED))
    (k,) = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="2 blocks"):
        sch.rfactor(k)


def test_the_trace_runs_again() -> None:
    sch = Schedule(matmul(3, 4, 10))
    *_, r = sch.get_loops(sch.get_block("C"))
    _, inner = sch.split(r, [None, 4])
    made = sch.rfactor(inner, factor_axis=2)
    sch.parallel(sch.get_loops(made)[0])
    again = Schedule(matmul(3, 4, 10))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.mod.script() == sch.mod.script()


@given(st.data())
@settings(max_examples=few_or_all(24, 60), derandomize=True, deadline=None)
def test_any_part_of_a_reduction_may_be_factored(data: st.DataObject) -> None:
    small = st.integers(1, 5)
    kind = data.draw(st.sampled_from(list(REDUCERS)))
    dtype = data.draw(st.sampled_from(["f32", "i32"]))
    func = rows(data.draw(small), data.draw(small), data.draw(small), kind, dtype)
    sch = Schedule(func, check="each")
    i, y, x = sch.get_loops(sch.get_block("C"))
    reducing = [sch.fuse(y, x)] if data.draw(st.booleans()) else [y, x]
    split = [
        part for loop in reducing for part in sch.split(loop, [None, data.draw(st.integers(1, 4))])
    ]
    sch.reorder(*data.draw(st.permutations([i, *split])))
    made = sch.rfactor(data.draw(st.sampled_from(split)), data.draw(st.integers(-2, 1)))
    if data.draw(st.booleans()):
        loops = sch.get_loops(sch.get_block("C"))
        sch.compute_at(made, data.draw(st.sampled_from(loops)))


@pytest.mark.parametrize("at", [0, 1])
def test_a_reduction_of_a_symbolic_size_is_factored(at: int) -> None:
    n = te.var("n")
    a = te.placeholder((4, n), name="A")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    _, r = sch.get_loops(sch.get_block("C"))
    made = sch.rfactor(sch.split(r, [None, 4])[at])
    sch.decompose_reduction(made, sch.get_loops(made)[0])
    sch.decompose_reduction(sch.get_block("C"), sch.get_loops(sch.get_block("C"))[1])


def sums_and_products() -> Schedule:
    a = te.placeholder((4, 6), name="A")
    k = te.reduce_axis((0, 6), name="k")
    both = te.comm_reducer(
        lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda p, q: (const(0, p), const(1, q))
    )
    c = te.compute((4,), lambda i: both((a[i, k], a[i, k]), axis=k), name="C")
    return Schedule(te.create_prim_func([a, *c]), check="each")  # pyright: ignore[reportGeneralTypeIssues] -- a tuple of two


def test_several_values_at_a_time_are_factored_together() -> None:
    sch = sums_and_products()
    _, r = sch.get_loops(sch.get_block("C"))
    _, inner = sch.split(r, [None, 4])
    made = sch.rfactor(inner)
    sch.decompose_reduction(made, sch.get_loops(made)[1])
    homes = [home.buffer for home in walk(sch.func, on=Allocate)]
    assert [buffer.name for buffer in homes] == ["C_0_rf", "C_1_rf"]
    assert sch.get(made).init is None


def test_several_values_that_only_a_caller_may_reorder_are_refused() -> None:
    """Only te knows that a reducer is associative and commutative; without its word it is not."""
    text = str(sums_and_products().func).replace(", reassoc=True", "")
    sch = Schedule(parse(text))
    _, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="nor a reduction of several values that te made"):
        sch.rfactor(r)


@pytest.mark.parametrize("last", [False, True])
def test_argmax_in_parts_keeps_ties_and_nan(last: bool) -> None:
    x = te.placeholder((3, 11), name="x")
    func = te.create_prim_func([x, topi.argmax(x, 1, last=last)])
    sch = Schedule(func)
    _, r = sch.get_loops(sch.get_block("argmax"))
    sch.rfactor(sch.split(r, [None, 4])[1])
    nan, inf = np.nan, np.inf
    rows = np.array(
        [[1, 2, 2, 0, nan, 2, nan, 1, 0, nan, 3], [-inf] * 11, [0, 5, 1, 5, 5] + [2] * 6]
    )
    wanted, found = np.zeros(3, np.int64), np.zeros(3, np.int64)
    interpret(func, rows.astype(np.float32), wanted)
    interpret(sch.func, rows.astype(np.float32), found)
    assert found.tolist() == wanted.tolist() == ([9, 10, 4] if last else [4, 0, 1])
