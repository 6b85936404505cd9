from irkit.autoschedule import Machine
from irkit.core import walk
from irkit.ir import Block, PrimFunc
from irkit.tune.cost import cycles_of_tile, work_of_block
from tests.tune.programs import convolution, nearest, product

AVX2 = Machine(vector_bytes=32, vector_registers=16)


def test_work_has_extents_operations_and_reads() -> None:
    (block,) = walk(product(4, 16, 8), on=Block)
    work = work_of_block(block)
    assert work is not None
    assert work.points == 4 * 16 * 8
    assert (work.operations, len(work.reads)) == (1, 2)
    assert work.reads[1].strides == {"vk": 16, "vj": 1}


def test_rows_that_share_a_vector_save_loads() -> None:
    (block,) = walk(nearest(64, 64, 64), on=Block)
    work = work_of_block(block)
    assert work is not None
    flat = cycles_of_tile(work, AVX2, "vj", 2, 8, {})
    tall = cycles_of_tile(work, AVX2, "vj", 2, 8, {"vi": 4})
    spilled = cycles_of_tile(work, AVX2, "vj", 4, 8, {"vi": 8})
    assert tall < flat
    assert tall < spilled


def test_a_tail_costs_a_whole_tile() -> None:
    (one,) = walk(nearest(8, 64, 8), on=Block)
    (more,) = walk(nearest(9, 64, 8), on=Block)
    a, b = work_of_block(one), work_of_block(more)
    assert a is not None
    assert b is not None
    tile = (AVX2, "vj", 1, 8, {"vi": 8})
    assert cycles_of_tile(b, *tile) == 2 * cycles_of_tile(a, *tile)


def test_windows_read_neighbours() -> None:
    (block,) = walk(convolution(2, 8, 3), on=Block)
    work = work_of_block(block)
    assert work is not None
    assert work.reads[0].strides["vj"] == work.reads[0].strides["vs"] == 1


def test_what_neighbours_share_is_loaded_once() -> None:
    (block,) = walk(convolution(2, 14, 6), on=Block)
    work = work_of_block(block)
    assert work is not None
    image = work.reads[0]
    rows = {"vi": 4}
    apart = 3 * image.loads("vj", 1, 8, rows, {})
    together = image.loads("vj", 1, 8, {**rows, "vr": 3}, {})
    assert (apart, together) == (12, 6)
    one, all_at_once = ({}, {"vr": 3})
    slow, fast = (cycles_of_tile(work, AVX2, "vj", 1, 8, rows, each) for each in (one, all_at_once))
    assert fast < slow


def test_a_vector_that_crosses_a_line_counts_twice() -> None:
    (block,) = walk(convolution(2, 16, 6), on=Block)
    work = work_of_block(block)
    assert work is not None
    image = work.reads[0]
    assert image.loads("vj", 2, 16, {}, {}) == 2
    assert image.loads("vj", 2, 16, {"vs": 3}, {}) == 2 + 2 * 4
    assert image.loads("vj", 2, 16, {}, {"vi": 1}) == 4  # Rows of 18 elements.


def test_a_product_that_is_added_is_one_instruction() -> None:
    assert [_operations(each) for each in (product(4, 16, 8), nearest(4, 16, 8))] == [1, 4]


def _operations(func: PrimFunc) -> float:
    (block,) = walk(func, on=Block)
    work = work_of_block(block)
    assert work is not None
    return work.operations
