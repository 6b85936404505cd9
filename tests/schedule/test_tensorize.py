"""A piece of a program becomes a block, and a block an intrinsic, or is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit import te
from irkit.core import ScheduleError, walk
from irkit.ir import Block, Buffer, For, PrimFunc, as_int, interpret, numpy_dtype, parse, verify
from irkit.phases import DEFAULT
from irkit.schedule import (
    LoopRef,
    Schedule,
    ScheduleTrace,
    TensorIntrin,
    builtin_intrinsics,
)
from tests.schedule.kernels import matmul, matmul_relu


def tiled(m: int, n: int, k: int, width: int = 4, check: str = "each") -> tuple[Schedule, Any]:
    """A product in tiles, and the outermost loop of a tile."""
    sch = Schedule(matmul(m, n, k), check=check)  # pyright: ignore[reportArgumentType] -- one of its words
    i, j, r = sch.get_loops(sch.get_block("C"))
    io, ii = sch.split(i, [None, 4])
    jo, ji = sch.split(j, [None, width])
    ro, ri = sch.split(r, [None, 4])
    sch.reorder(io, jo, ro, ii, ji, ri)
    return sch, ii


def run(func: PrimFunc, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    arrays: list[Any] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = tuple(as_int(dim) or 0 for dim in param.shape)
        low = 0 if param.dtype.kind == "u" else -4
        arrays.append(rng.integers(low, 5, shape).astype(numpy_dtype(param.dtype)))
    interpret(func, *arrays)
    return arrays


@pytest.mark.parametrize("intrin", list(builtin_intrinsics()), ids=lambda each: each.name)
def test_an_intrinsic_does_what_it_says(intrin: TensorIntrin) -> None:
    assert verify(intrin.desc) == verify(intrin.impl) == []
    for found, wanted in zip(run(intrin.impl), run(intrin.desc), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_tile_becomes_a_block_that_starts_the_reduction() -> None:
    sch, tile = tiled(8, 8, 8)
    made = sch.blockize(tile)
    assert made.name == "C_o"
    outer = sch.get(made)
    assert isinstance(outer, Block)
    assert [axis.kind for axis in outer.axes] == ["spatial", "spatial", "reduce"]
    assert outer.init is not None
    assert len(sch.get_loops(made)) == len(sch.get_loops(sch.get_block("C"))) == 3
    sch.decompose_reduction(made, sch.get_loops(made)[2])
    sch.parallel(sch.get_loops(made)[0])
    assert [block.name for block in walk(sch.func, on=Block)] == [
        "C_o_init",
        "C_init",
        "C_o",
        "C",
    ]


def test_two_blocks_may_become_one() -> None:
    sch = Schedule(matmul_relu(4, 5, 6), check="each")
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.reverse_compute_at(sch.get_block("D"), i)
    made = sch.blockize(j)
    assert [axis.kind for axis in sch.get(made).axes] == ["spatial"]  # pyright: ignore[reportAttributeAccessIssue] -- a block


def test_ragged_tiles_keep_their_guards_inside() -> None:
    sch, tile = tiled(7, 6, 5)
    sch.blockize(tile)


def test_a_loop_without_a_block_is_refused() -> None:
    text = "def f(A: f32[4]):\n    for i in serial(0, 4):\n        A[i] = f32(0.0)\n"
    sch = Schedule(parse(text))
    (loop,) = walk(sch.func, on=For)
    with pytest.raises(ScheduleError):
        sch.blockize(LoopRef(loop.var))


def test_a_loop_that_is_reduced_over_and_not_is_no_axis() -> None:
    sch = Schedule(matmul(4, 6, 5))
    i, j, r = sch.get_loops(sch.get_block("C"))
    far, near = sch.split(sch.fuse(j, r), [None, 3])
    with pytest.raises(ScheduleError, match="both reduced over and not"):
        sch.blockize(near)
    sch.blockize(i)
    assert far is not near


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
        ("A[v, r] * B[r, w]", "A[v, r] + B[r, w]", "Add stands where Load"),
        ("A[v, r] * B[r, w]", "A[v, r] * B[w, r]", "another way than described"),
        ("A[v, r] * B[r, w]", "A[v, r] * A[r, w]", "stands for"),
        ("A[v, r] * B[r, w]", "A[v, r] * B[r // 2, w]", "another way than described"),
        ("serial(0, 4):\n            for r", "serial(0, 3):\n            for r", "another extent"),
        ("C[v, w] = C[v, w]", "C[v, w] = D[v, w]", "one part of one buffer"),
        ("where(True)", "where(i < 3)", "has a predicate"),
        ("B: f32", "B: f64", "another type|f64"),
    ],
)
def test_what_is_not_described_is_refused(old: str, new: str, reason: str) -> None:
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


def test_an_intrinsic_whose_functions_differ_is_refused() -> None:
    found = builtin_intrinsics().get("dot_4_i8")
    other = builtin_intrinsics().get("dot_4_u8i8")
    with pytest.raises(ScheduleError, match="other buffers"):
        TensorIntrin("mixed", found.desc, other.impl)


@given(st.data())
@settings(max_examples=25, derandomize=True, deadline=None)
def test_a_block_of_any_loop_keeps_the_meaning(data: st.DataObject) -> None:
    small = st.integers(1, 6)
    func = matmul_relu(data.draw(small), data.draw(small), data.draw(small))
    sch = Schedule(func, check="each")
    i, j, r = sch.get_loops(sch.get_block("C"))
    parts = [p for loop in (i, j, r) for p in sch.split(loop, [None, data.draw(st.integers(1, 3))])]
    order = data.draw(st.permutations(parts))
    sch.reorder(*order)
    made = sch.blockize(data.draw(st.sampled_from(order)))
    loops = sch.get_loops(made)
    if data.draw(st.booleans()) and loops:
        try:
            sch.decompose_reduction(made, data.draw(st.sampled_from(loops)))
        except ScheduleError:
            return
