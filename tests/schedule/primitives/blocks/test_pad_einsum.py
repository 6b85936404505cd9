"""pad_einsum: sums of products are padded to whole tiles."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError, substitute, walk
from irkit.ir import Allocate, Buffer, as_scheduled, parse
from irkit.schedule import Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import loop_extents, matmul, matmul_relu


def test_a_product_is_padded_to_whole_tiles() -> None:
    sch = Schedule(matmul_relu(5, 6, 7), check="each")
    made = sch.pad_einsum(sch.get_block("C"), [4, 4, 4])
    assert [each.name for each in made] == ["C_pad_A", "C_pad_B", "C_unpad"]
    assert loop_extents(sch, "C") == ["8", "8", "8"]
    i, j, r = sch.get_loops(sch.get_block("C"))
    sch.split(i, [None, 4])
    _, inner = sch.split(j, [None, 4])
    sch.split(r, [None, 4])
    assert inner is not None
    sch.compute_inline(made[0])
    sch.reverse_compute_inline(sch.get_block("D"))


def test_padded_copies_of_two_buffers_with_the_same_name_have_unique_names() -> None:
    func = matmul(5, 7, 6)
    first, second, _ = func.params
    assert isinstance(first, Buffer)
    assert isinstance(second, Buffer)
    sch = Schedule(substitute(func, {second: second.replace(name=first.name)}), check="each")
    made = sch.pad_einsum(sch.get_block("C"), [4, 4, 4])
    assert [ref.name for ref in made] == ["C_pad_A", "C_pad_A_1", "C_unpad"]


def test_only_what_an_axis_indexes_is_padded() -> None:
    sch = Schedule(matmul(5, 6, 7), check="each")
    made = sch.pad_einsum(sch.get_block("C"), [1, 4, 1])
    assert [each.name for each in made] == ["C_pad_B", "C_unpad"]
    shapes = {alloc.buffer.name: len(alloc.buffer.shape) for alloc in walk(sch.func, on=Allocate)}
    assert shapes == {"B_pad": 2, "C_pad": 2}


def test_extents_that_are_multiples_are_not_padded() -> None:
    sch = Schedule(as_scheduled(matmul(4, 8, 4)))
    before = sch.func
    assert sch.pad_einsum(sch.get_block("C"), [4, 4, 2]) == []
    assert sch.func is before


SUM = """def f(A: f32[5, 6], W: f32[5], C: f32[5]):
    for i in serial(0, 5):
        for k in serial(0, 6):
            with block("C"):
                v = axis.spatial(5, i)
                r = axis.reduce(6, k)
                with init():
                    C[v] = f32(0.0)
                C[v] = C[v] + A[v, r] * W[v]
"""


@pytest.mark.parametrize(
    ("old", "new", "padding", "reason"),
    [
        ("W[v]\n", "W[v]\n", [1, 4], "is not padded along the padded reduction"),
        ("A[v, r] * W[v]", "(A[v, r] + W[v])", [4, 1], "something other than products"),
        ("C[v] + A[v, r] * W[v]", "max(C[v], A[v, r])", [4, 1], "not a sum"),
        ("A[v, r]", "A[v, 0]", [4, 1], "distinct axes of the block"),
        ("W[v]\n", "A[v, r]\n", [4], "for each of 2 axes"),
        ("W[v]\n", "A[v, r]\n", [4, 0], "positive number"),
        ("f32(0.0)", "f32(1.0)", [4, 4], "start at 0"),
        ("(5, i)", "(5, 4 - i)", [4, 1], "its own loops"),
    ],
)
def test_a_block_that_is_not_a_sum_of_products_is_not_padded(
    old: str, new: str, padding: list[int], reason: str
) -> None:
    assert old in SUM
    sch = Schedule(parse(SUM.replace(old, new)))
    with pytest.raises(ScheduleError, match=reason):
        sch.pad_einsum(sch.get_block("C"), padding)


GRAM = """def f(A: f32[5, 6], C: f32[5, 5]):
    for i in serial(0, 5):
        for j in serial(0, 5):
            for k in serial(0, 6):
                with block("C"):
                    v = axis.spatial(5, i)
                    w = axis.spatial(5, j)
                    r = axis.reduce(6, k)
                    with init():
                        C[v, w] = f32(0.0)
                    C[v, w] = C[v, w] + A[v, r] * A[w, r]
"""


@pytest.mark.parametrize(
    ("padding", "names"),
    [
        ([4, 4, 4], ["C_pad_A", "C_pad_A_1", "C_unpad"]),
        ([4, 1, 1], ["C_pad_A", "C_unpad"]),
        ([1, 4, 1], ["C_pad_A", "C_unpad"]),
        ([1, 1, 4], ["C_pad_A", "C_pad_A_1"]),
    ],
)
def test_a_buffer_read_at_two_indices_is_padded_for_each(
    padding: list[int], names: list[str]
) -> None:
    sch = Schedule(parse(GRAM), check="each")
    made = sch.pad_einsum(sch.get_block("C"), padding)
    assert [each.name for each in made] == names


@given(st.data())
@settings(max_examples=few_or_all(8, 20), derandomize=True, deadline=None)
def test_any_padding_keeps_results(data: st.DataObject) -> None:
    small = st.integers(1, 5)
    sch = Schedule(matmul_relu(data.draw(small), data.draw(small), data.draw(small)), check="each")
    sch.pad_einsum(sch.get_block("C"), data.draw(st.lists(small, min_size=3, max_size=3)))
