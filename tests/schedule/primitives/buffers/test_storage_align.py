"""storage_align: strides are padded, and results stay the same."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, PrimFunc, as_int, parse
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_natively, matmul, matmul_relu
from tests.schedule.primitives.buffers.programs import STAGES


def strides(func: PrimFunc, name: str) -> tuple[int | None, ...]:
    (found,) = [a.buffer for a in walk(func, on=Allocate) if a.buffer.name == name]
    assert found.strides is not None
    return tuple(as_int(stride) for stride in found.strides)


def test_rows_get_a_stride_of_the_requested_form() -> None:
    sch = Schedule(matmul_relu(6, 5, 4), check="each")
    sch.storage_align(sch.get_block("C"), 0, 0, 16, 3)
    assert strides(sch.func, "C") == (19, 1)
    assert_same_natively(matmul_relu(6, 5, 4), sch.func)


def test_axes_are_aligned_one_after_the_other_from_the_inside() -> None:
    sch = Schedule(parse(STAGES), check="each")
    sch.storage_align(sch.get_block("B"), "B", -1, 2, 0)
    sch.storage_align(sch.get_block("B"), "B", -2, 8, 1)
    assert strides(sch.func, "B") == (17, 2)
    assert_same_natively(parse(STAGES), sch.func)
    with pytest.raises(ScheduleError, match="an outer axis already is padded"):
        sch.storage_align(sch.get_block("B"), "B", 1, 4, 0)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    m=st.integers(1, 5),
    n=st.integers(1, 9),
    factor=st.integers(1, 12),
    data=st.data(),
)
def test_an_aligned_buffer_has_the_same_contents(
    m: int, n: int, factor: int, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(0, factor - 1))
    axis = data.draw(st.integers(0, 1))
    sch = Schedule(matmul_relu(m, n, 2), check="each")
    sch.storage_align(sch.get_block("C"), 0, axis, factor, offset)
    found = strides(sch.func, "C")[axis]
    assert found is not None
    fewest = (n, 1)[axis]
    assert found % factor == offset
    assert fewest <= found < fewest + factor


def test_a_tile_stays_aligned_where_it_moves() -> None:
    sch = Schedule(matmul_relu(8, 8, 4), check="each")
    i, j = sch.get_loops(sch.get_block("D"))
    io, ii = sch.split(i, [None, 4])
    jo, ji = sch.split(j, [None, 4])
    sch.reorder(io, jo, ii, ji)
    sch.compute_at(sch.get_block("C"), jo)
    sch.storage_align(sch.get_block("C"), 0, 0, 8, 1)
    sch.vectorize(ji)
    assert_same_natively(matmul_relu(8, 8, 4), sch.func)


@pytest.mark.parametrize(
    ("axis", "factor", "offset", "why"),
    [
        (2, 4, 0, "no axis 2"),
        (-3, 4, 0, "no axis -3"),
        (0, 0, 0, "the factor must be 1 to"),
        (0, 4, 4, "less than the factor"),
        (0, 4, -1, "at least 0"),
        (0, 1 << 40, 0, "the factor must be 1 to"),
    ],
)
def test_an_invalid_alignment_is_refused(axis: int, factor: int, offset: int, why: str) -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    with pytest.raises(ScheduleError, match=why):
        sch.storage_align(sch.get_block("C"), 0, axis, factor, offset)


def test_the_strides_of_a_parameter_do_not_change() -> None:
    sch = Schedule(matmul(4, 4, 4))
    for change in (
        lambda: sch.storage_align(sch.get_block("C"), 0, 0, 8, 0),
        lambda: sch.double_buffer(sch.get_block("C")),
        lambda: sch.reuse_buffer(sch.get_block("C"), sch.get_block("C")),
        lambda: sch.unsafe_set_dtype(sch.get_block("C"), "f64"),
    ):
        with pytest.raises(ScheduleError, match="belongs to the caller"):
            change()


def test_a_buffer_seen_through_a_view_keeps_its_layout() -> None:
    func = parse("""def f(A: f32[4, 4], C: f32[16]):
    B = alloc(f32[4, 4])
    for i in serial(0, 4):
        with block("B"):
            v = axis.spatial(4, i)
            B[v, v] = A[v, v]
    V = view(B, f32[16], offset=0)
    for i in serial(0, 4):
        with block("C"):
            v = axis.spatial(4, i)
            C[v] = V[v * 5]
""")
    with pytest.raises(ScheduleError, match="view"):
        Schedule(func).storage_align(Schedule(func).get_block("B"), 0, 0, 8, 0)


def test_a_buffer_is_aligned_after_overcompute() -> None:
    sch = Schedule(matmul_relu(3, 10, 4))
    block = sch.get_block("C")
    sch.split(sch.get_loops(block)[1], [None, 4])
    sch.storage_align(block, 0, 0, 8, 0)
    with pytest.raises(ScheduleError, match="has strides"):
        sch.overcompute(block)
