"""Stage schedules: directives on tensors become loops, or are refused."""

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.core import IRKitError, ScheduleError, walk
from irkit.ir import Allocate, For, PrimFunc, as_int, interpret
from tests.schedule.kernels import assert_same_results


def matmul(m: int = 8, n: int = 12, k: int = 5) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="k")
    return a, b, te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def chain() -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a = te.placeholder((16, 16), name="A")
    b = te.compute((16, 16), lambda i, j: a[i, j] + 1.0, name="B")
    return a, b, te.compute((16, 16), lambda i, j: b[i, j] * 2.0, name="C")


def loops(func: PrimFunc) -> list[str]:
    return [f"{loop.kind} {loop.var.name}" for loop in walk(func, on=For)]


def test_a_matmul_is_tiled_in_the_order_of_the_directives() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c, check="each")
    i, j = s[c].op.axis
    (k,) = s[c].reduce_axis
    io, ii = s[c].split(i, factor=4)
    jo, ji = s[c].split(j, nparts=3)
    s[c].reorder(io, jo, k, ii, ji)
    s[c].parallel(io)
    s[c].vectorize(ji)
    s[c].unroll(ii)
    module = irkit.lower(s, [a, b, c], stop_after=0)
    assert loops(module["main"]) == [
        "parallel i_0", "serial j_0", "serial k", "unrolled i_1", "vectorized j_1",
    ]  # fmt: skip
    kernel = irkit.build(s, [a, b, c], target="llvm", name="matmul")
    x, y = np.ones((8, 5), np.float32), np.ones((5, 12), np.float32)
    z = np.zeros((8, 12), np.float32)
    kernel(x, y, z)
    np.testing.assert_array_equal(z, x @ y)


def test_tile_and_fuse_give_the_loops_of_the_same_names() -> None:
    a, _, c = chain()
    s = te.create_schedule([c.op], check="each")
    xo, yo, xi, yi = s[c].tile(s[c].axis[0], s[c].axis[1], x_factor=4, y_factor=8)
    s[c].vectorize(s[c].fuse(xi, yi))
    s[c].fuse(xo, yo)
    assert_same_results(te.create_prim_func([a, c]), s.func)


def test_compute_at_works_at_any_position_among_the_directives() -> None:
    results: list[list[str]] = []
    for late in (True, False):
        _, b, c = chain()
        s = te.create_schedule(c, check="each")
        yo, yi = s[c].split(s[c].axis[0], factor=4)
        if not late:
            s[b].compute_at(s[c], yo)
        _, ji = s[b].split(s[b].axis[1], factor=8)
        s[b].vectorize(ji)
        s[c].reorder(s[c].axis[1], yi)
        if late:
            s[b].compute_at(s[c], yo)
        results.append(loops(s.func))
    assert results[0] == results[1]
    assert results[0][0] == "serial i_0"


def test_compute_root_undoes_compute_at_and_compute_inline() -> None:
    a, b, c = chain()
    s = te.create_schedule(c)
    before = loops(s.func)
    s[b].compute_inline()
    assert len(loops(s.func)) == 2
    s[b].compute_root()
    assert loops(s.func) == before
    s[b].compute_at(s[c], s[c].axis[0])
    s[b].compute_root()
    assert loops(s.func) == before
    assert_same_results(te.create_prim_func([a, c]), s.func)


def test_the_cache_of_a_result_is_computed_where_it_is_put() -> None:
    a, b, c = matmul(16, 16, 8)
    s = te.create_schedule(c, check="each")
    cc = s.cache_write(c, "local")
    xo, yo, _, yi = s[c].tile(c.op.axis[0], c.op.axis[1], 4, 8)
    s[c].vectorize(yi)
    s[cc].compute_at(s[c], yo)
    xc, yc = s[cc].op.axis
    (k,) = s[cc].op.reduce_axis
    ko, ki = s[cc].split(k, factor=4)
    s[cc].reorder(ko, xc, ki, yc)
    s[cc].unroll(ki)
    s[cc].vectorize(yc)
    assert s[c].op.reduce_axis == ()
    lowered = s.lower([a, b, c])
    assert_same_results(te.create_prim_func([a, b, c]), lowered)
    assert xo is not None


def test_several_stages_read_one_copy() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: a[i] * b[i], name="C")
    s = te.create_schedule(c, check="each")
    aa = s.cache_read(a, "shared", [b, c])
    s[aa].vectorize(s[aa].axis[0])
    stores = [load for load in walk(s.func, on=For) if load.kind == "vectorized"]
    assert len(stores) == 1
    assert_same_results(te.create_prim_func([a, c]), s.lower([a, c]))


def test_a_reduction_is_split_into_partial_ones() -> None:
    a = te.placeholder((8, 24), name="A")
    r = te.reduce_axis((0, 24), name="k")
    b = te.compute((8,), lambda i: te.sum(a[i, r], axis=r), name="B")
    s = te.create_schedule(b, check="each")
    _, ki = s[b].split(b.op.reduce_axis[0], factor=4)
    bf = s.rfactor(b, ki)
    s[bf].vectorize(s[bf].axis[0])
    s[b].parallel(s[b].axis[0])
    assert_same_results(te.create_prim_func([a, b]), s.lower([a, b]))


def test_an_intermediate_tensor_may_be_a_parameter_of_what_is_lowered() -> None:
    a, b, c = chain()
    s = te.create_schedule(c)
    s[b].vectorize(s[b].split(b.op.axis[1], factor=4)[1])
    func = s.lower([a, b, c])
    assert [param.name for param in func.params] == ["A", "B", "C"]
    s[b].compute_inline()
    with pytest.raises(ScheduleError, match="parameter"):
        s.lower([a, b, c])


def test_symbolic_shapes_are_ordinary() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    s = te.create_schedule(b, check="each")
    _, inner = s[b].split(b.op.axis[0], factor=8)
    s[b].vectorize(inner)
    kernel = irkit.build(s, [a, b])
    x, y = np.arange(13, dtype=np.float32), np.zeros(13, np.float32)
    kernel(x, y)
    np.testing.assert_array_equal(y, x + 1)


def test_threads_are_bound_and_run_without_a_gpu() -> None:
    a, b, c = matmul(8, 12, 5)
    s = te.create_schedule(c, check="each")
    io, ii = s[c].split(c.op.axis[0], factor=4)
    s[c].reorder(io, ii, c.op.axis[1])
    s[c].bind(io, te.thread_axis("blockIdx.x"))
    s[c].bind(ii, "threadIdx.x")
    x, y = np.ones((8, 5), np.float32), np.ones((5, 12), np.float32)
    z = np.zeros((8, 12), np.float32)
    irkit.build(s, [a, b, c])(x, y, z)
    np.testing.assert_array_equal(z, x @ y)


def test_a_stage_takes_hints_predicates_and_threads_around_it() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    s = te.create_schedule(b, check="each")
    s[b].pragma(b.op.axis[0], "auto_unroll_max_step", 16)
    s[b].set_store_predicate(lambda i: i < 8)
    s[b].env_threads(te.thread_axis((0, 4), "threadIdx.x"))
    assert_same_results(te.create_prim_func([a, b]), s.func)


def test_a_stage_takes_directives_on_memory() -> None:
    a, b, c = chain()
    s = te.create_schedule(c, check="each")
    s[b].storage_align(b.op.axis[0], 32, 8)
    (stage,) = walk(s.func, on=Allocate)
    assert stage.buffer.strides is not None
    assert [as_int(stride) for stride in stage.buffer.strides] == [40, 1]
    with pytest.raises(ScheduleError, match="not an axis of stage"):
        s[b].storage_align(c.op.axis[0], 32, 8)
    assert_same_results(te.create_prim_func([a, c]), s.lower([a, c]))


def test_a_directive_that_is_not_legal_changes_nothing() -> None:
    _, _, c = matmul()
    s = te.create_schedule(c)
    before = s.func
    with pytest.raises(ScheduleError, match="the reduce axis 'vk' of block 'C' uses it"):
        s[c].vectorize(c.op.reduce_axis[0])
    with pytest.raises(ScheduleError, match="the reduce axis 'vk' of block 'C' uses it"):
        s[c].parallel(c.op.reduce_axis[0])
    assert s.func is before


def test_loops_and_stages_of_other_schedules_are_refused() -> None:
    a, b, c = chain()
    s = te.create_schedule(c)
    with pytest.raises(ScheduleError, match="not a loop of this schedule"):
        s[c].split(te.reduce_axis((0, 4)), factor=2)
    with pytest.raises(ScheduleError, match="is an input"):
        s[a]
    with pytest.raises(ScheduleError, match="'A' is an input, so there is nothing"):
        te.create_schedule(a)
    with pytest.raises(ScheduleError, match="no tensor is given"):
        te.create_schedule([])
    with pytest.raises(ScheduleError, match="'x' is not a loop of this schedule"):
        s[c].split("x", factor=2)  # pyright: ignore[reportArgumentType] -- the mistake
    with pytest.raises(ScheduleError, match="not a stage of this schedule"):
        te.create_schedule(b)[c]
    with pytest.raises(ScheduleError, match="either factor or nparts"):
        s[c].split(c.op.axis[0])


def test_parameters_belong_to_schedules_of_tensors() -> None:
    a, _, c = chain()
    s = te.create_schedule(c)
    with pytest.raises(IRKitError, match="needs the parameters"):
        irkit.lower(s, None)  # type: ignore[call-overload] -- what is tested
    with pytest.raises(IRKitError, match="has its parameters"):
        irkit.lower(te.create_prim_func([a, c]), [a, c])  # type: ignore[call-overload] -- what is tested
    with pytest.raises(IRKitError, match="Pass a target by name"):
        irkit.build(te.create_prim_func([a, c]), "llvm")  # type: ignore[call-overload] -- what is tested


def test_a_stage_is_computed_by_an_intrinsic() -> None:
    a, b, c = matmul(8, 16, 8)
    s = te.create_schedule(c, check="each")
    io, ii = s[c].split(c.op.axis[0], factor=4)
    jo, ji = s[c].split(c.op.axis[1], factor=16)
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=4)
    s[c].reorder(io, jo, ko, ii, ji, ki)
    s[c].tensorize(ii, "matmul_4x16x4_f32")
    assert_same_results(te.create_prim_func([a, b, c]), s.lower([a, b, c]))


def test_a_stage_rolls_and_is_prefetched() -> None:
    a = te.placeholder((18,), name="A")
    b = te.compute((18,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((16,), lambda i: b[i] + b[i + 1] + b[i + 2], name="C")
    s = te.create_schedule(c, check="each")
    s[b].compute_at(s[c], c.op.axis[0])
    s[b].rolling_buffer()
    s[c].prefetch(b, c.op.axis[0], 2)
    assert "prefetch" in s.func.script()
    assert_same_results(te.create_prim_func([a, c]), s.lower([a, c]))


def test_a_sum_over_nothing_is_scheduled_like_others() -> None:
    a = te.placeholder((3, 0), name="A")
    k = te.reduce_axis((0, 0), name="k")
    b = te.compute((3,), lambda i: te.sum(a[i, k], axis=k), name="B")
    s = te.create_schedule(b)
    s[b].split(s[b].axis[0], 2)
    out = np.ones(3, np.float32)
    interpret(s.lower([a, b]), np.zeros((3, 0), np.float32), out)
    np.testing.assert_array_equal(out, 0)


@pytest.mark.parametrize("place", [0, 1])
def test_the_axes_of_partial_sums_are_handles_of_their_loops(place: int) -> None:
    a = te.placeholder((5, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")
    b = te.compute((5,), lambda i: te.sum(a[i, k], axis=k), name="B")
    s = te.create_schedule(b)
    partial = s.rfactor(b, k, place)
    stage = s[partial]
    assert stage.reduce_axis == ()
    stage.unroll(stage.axis[place])
    kinds = {as_int(loop.end): loop.kind for loop in walk(s.func, on=For) if loop.kind != "serial"}
    assert kinds == {4: "unrolled"}
    final = s[b]
    stage.compute_at(final, final.reduce_axis[0])
    assert [loop.kind for loop in walk(s.func, on=For)].count("unrolled") == 1
