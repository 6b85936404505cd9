"""blockize: a loop and everything below it become one block."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError, walk
from irkit.ir import Block, For, parse
from irkit.schedule import LoopRef, Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import matmul, matmul_relu
from tests.schedule.primitives.blocks.programs import tiled


def test_a_tile_becomes_a_block_that_initialises_the_reduction() -> None:
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


def test_a_loop_used_both_for_a_reduction_and_otherwise_is_refused() -> None:
    sch = Schedule(matmul(4, 6, 5))
    i, j, r = sch.get_loops(sch.get_block("C"))
    far, near = sch.split(sch.fuse(j, r), [None, 3])
    with pytest.raises(ScheduleError, match="used both as a reduction loop and otherwise"):
        sch.blockize(near)
    sch.blockize(i)
    assert far is not near


@given(st.data())
@settings(max_examples=few_or_all(10, 25), derandomize=True, deadline=None)
def test_blockizing_any_loop_keeps_results(data: st.DataObject) -> None:
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
