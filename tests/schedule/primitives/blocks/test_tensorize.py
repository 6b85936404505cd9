"""tensorize: a block becomes an intrinsic if it matches the description."""

import numpy as np
import pytest

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Block, lt, parse
from irkit.phases import DEFAULT
from irkit.schedule import BlockRef, Schedule, ScheduleTrace, TensorIntrin, builtin_intrinsics
from tests.schedule.kernels import matmul
from tests.schedule.primitives.blocks.programs import run, tiled


@pytest.mark.parametrize("width", [4, 8, 16])
def test_a_tile_of_a_product_becomes_vectors(width: int) -> None:
    sch, tile = tiled(8, 2 * width, 8, width)
    made = sch.tensorize(tile, f"matmul_4x{width}x4_f32")
    assert f"ramp(vj_0 * {width} + 0, 1, {width})" in sch.mod.script()
    sch.parallel(sch.get_loops(made)[0])


def test_a_matched_tile_lowers_to_the_same_results() -> None:
    sch, tile = tiled(8, 8, 8)
    made = sch.tensorize(tile, "matmul_4x4x4_f32")
    sch.decompose_reduction(made, sch.get_loops(made)[2])
    lowered = DEFAULT.run(sch.func)
    assert not list(walk(lowered, on=Block))
    for found, wanted in zip(run(lowered), run(matmul(8, 8, 8)), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_bytes_are_multiplied_and_added_four_at_a_time() -> None:
    a = te.placeholder((6, 8), name="A", dtype="u8")
    b = te.placeholder((5, 8), name="B", dtype="i8")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute(
        (6, 5), lambda i, j: te.sum(a[i, k].astype("i32") * b[j, k].astype("i32"), axis=k), name="C"
    )
    sch = Schedule(te.create_prim_func([a, b, c]), check="each")
    *_, r = sch.get_loops(sch.get_block("C"))
    _, inner = sch.split(r, [None, 4])
    with pytest.raises(ScheduleError, match="i8"):
        sch.tensorize(inner, "dot_4_i8")
    sch.tensorize(inner, "dot_4_u8i8")


def test_an_intrinsic_of_the_user_is_known_by_name() -> None:
    text = """def twice(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        B[i] = A[i] * f32(2.0)
"""
    vectors = """def twice(A: f32[4], B: f32[4]):
    B[ramp(0, 1, 4)] = A[ramp(0, 1, 4)] + A[ramp(0, 1, 4)]
"""
    mine = builtin_intrinsics().having(TensorIntrin("twice", parse(text), parse(vectors)))
    a = te.placeholder((3, 8), name="A")
    b = te.compute((3, 8), lambda i, j: a[i, j] * 2.0, name="B")
    func = te.create_prim_func([a, b])
    sch = Schedule(func, check="each", intrinsics=mine)
    _, j = sch.get_loops(sch.get_block("B"))
    _, inner = sch.split(j, [None, 4])
    sch.tensorize(inner, "twice")
    again = Schedule(func, intrinsics=mine)
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.mod.script() == sch.mod.script()
    with pytest.raises(ScheduleError, match="already"):
        mine.having(TensorIntrin("twice", parse(text), parse(vectors)))
    with pytest.raises(ScheduleError, match="no tensor intrinsic 'twice'"):
        sch.trace.apply(Schedule(func))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("A[v, r] * B[r, w]", "A[v, r] + B[r, w]", "expected Load, found Add"),
        ("A[v, r] * B[r, w]", "A[v, r] * B[w, r]", "differently than in the description"),
        ("A[v, r] * B[r, w]", "A[v, r] * A[r, w]", "already matches"),
        ("A[v, r] * B[r, w]", "A[v, r] * B[r // 2, w]", "differently than in the description"),
        (
            "serial(0, 4):\n            for r",
            "serial(0, 3):\n            for r",
            "a different extent",
        ),
        ("C[v, w] = C[v, w]", "C[v, w] = D[v, w]", "one part of one buffer"),
        ("where(True)", "where(i < 3)", "has a predicate"),
        ("B: f32", "B: f64", "another type|f64"),
    ],
)
def test_a_block_that_does_not_match_the_description_is_refused(
    old: str, new: str, reason: str
) -> None:
    text = """def f(A: f32[4, 4], B: f32[4, 4], C: f32[4, 4], D: f32[4, 4]):
    for i in serial(0, 4):
        for j in serial(0, 4):
            for r in serial(0, 4):
                with block("C"):
                    v = axis.spatial(4, i)
                    w = axis.spatial(4, j)
                    q = axis.reduce(4, r)
                    where(True)
                    C[v, w] = C[v, w] + A[v, r] * B[r, w]
"""
    assert old in text
    text = text.replace(old, new)
    if "f64" in new:
        text = text.replace("* B[r, w]", "* cast(B[r, w], f32)")
    sch = Schedule(parse(text))
    i, *_ = sch.get_loops(sch.get_block("C"))
    before = sch.func
    with pytest.raises(ScheduleError, match=reason):
        sch.tensorize(i, "matmul_4x4x4_f32")
    assert sch.func is before


def test_an_unknown_intrinsic_is_refused() -> None:
    sch, tile = tiled(4, 4, 4)
    with pytest.raises(ScheduleError, match="no tensor intrinsic 'nothing'"):
        sch.tensorize(tile, "nothing")


def test_the_inner_part_of_a_padded_copy_becomes_vectors_and_its_edge_does_not() -> None:
    text = """def copy(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        B[i] = A[i]
"""
    vectors = """def copy(A: f32[4], B: f32[4]):
    B[ramp(0, 1, 4)] = A[ramp(0, 1, 4)]
"""
    mine = builtin_intrinsics().having(TensorIntrin("copy_4", parse(text), parse(vectors)))
    a = te.placeholder((10,), name="A")
    zero = te.const(0, "f32")
    padded = te.compute((12,), lambda i: te.if_then_else(lt(i, 10), a[i], zero), name="P")
    sch = Schedule(te.create_prim_func([a, padded]), check="each", intrinsics=mine)
    (loop,) = sch.get_loops(BlockRef("P"))
    tile, inner = sch.split(loop, [None, 4])
    with pytest.raises(ScheduleError, match="expected Load, found Conditional"):
        sch.tensorize(inner, "copy_4")
    sch.loop_partition(tile, [2, None])
    sch.tensorize(sch.get_loops(BlockRef("P"))[-1], "copy_4")
    assert "A[ramp(vi_0 * 4 + 0, 1, 4)]" in sch.mod.script()
