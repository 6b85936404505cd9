"""Buffers get gaps, halves and shared memory, and results stay."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import ScheduleError, same, walk
from irkit.ir import Allocate, PrimFunc, as_int, parse
from irkit.phases import lower
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import assert_same_natively, chain, matmul, matmul_relu

STAGES = """def f(A: f32[6, 8], D: f32[6, 8]):
    B = alloc(f32[6, 8])
    for i in serial(0, 6):
        for j in serial(0, 8):
            with block("B"):
                v = axis.spatial(6, i)
                w = axis.spatial(8, j)
                B[v, w] = A[v, w] * f32(2.0)
    E = alloc(f32[8])
    for j in serial(0, 8):
        with block("E"):
            w = axis.spatial(8, j)
            E[w] = B[0, w] + B[5, w]
    C = alloc(f32[6, 4])
    for i in serial(0, 6):
        for j in serial(0, 4):
            with block("C"):
                v = axis.spatial(6, i)
                w = axis.spatial(4, j)
                C[v, w] = E[w] + A[v, w + 4]
    for i in serial(0, 6):
        for j in serial(0, 8):
            with block("D"):
                v = axis.spatial(6, i)
                w = axis.spatial(8, j)
                D[v, w] = C[v, w // 2] + E[w]
"""


def strides(func: PrimFunc, name: str) -> tuple[int | None, ...]:
    (found,) = [a.buffer for a in walk(func, on=Allocate) if a.buffer.name == name]
    assert found.strides is not None
    return tuple(as_int(stride) for stride in found.strides)


def test_rows_get_a_stride_of_the_form_that_is_asked_for() -> None:
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
    with pytest.raises(ScheduleError, match="gaps along an outer axis"):
        sch.storage_align(sch.get_block("B"), "B", 1, 4, 0)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    m=st.integers(1, 5),
    n=st.integers(1, 9),
    factor=st.integers(1, 12),
    data=st.data(),
)
def test_an_aligned_buffer_holds_the_same(m: int, n: int, factor: int, data: st.DataObject) -> None:
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
        (0, 0, 0, "a factor is from 1"),
        (0, 4, 4, "less than the factor"),
        (0, 4, -1, "at least 0"),
        (0, 1 << 40, 0, "a factor is from 1"),
    ],
)
def test_an_alignment_that_says_nothing_is_refused(
    axis: int, factor: int, offset: int, why: str
) -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    with pytest.raises(ScheduleError, match=why):
        sch.storage_align(sch.get_block("C"), 0, axis, factor, offset)


def test_a_parameter_lies_as_its_caller_has_it() -> None:
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


def test_what_grows_is_aligned_afterwards() -> None:
    sch = Schedule(matmul_relu(3, 10, 4))
    block = sch.get_block("C")
    sch.split(sch.get_loops(block)[1], [None, 4])
    sch.storage_align(block, 0, 0, 8, 0)
    with pytest.raises(ScheduleError, match="has strides"):
        sch.overcompute(block)


def tile_copied() -> Schedule:
    sch = Schedule(matmul_relu(8, 8, 4), check="each")
    i, _ = sch.get_loops(sch.get_block("D"))
    sch.compute_at(sch.get_block("C"), i)
    return sch


def test_a_buffer_filled_in_each_iteration_is_marked_for_two_halves() -> None:
    sch = tile_copied()
    sch.double_buffer(sch.get_block("C"))
    sch.double_buffer(sch.get_block("C"))
    (home,) = walk(sch.func, on=Allocate)
    assert home.attrs == (("double_buffer", True),)
    assert_same_natively(matmul_relu(8, 8, 4), sch.func)


def test_lowering_gives_a_marked_buffer_its_halves() -> None:
    sch = tile_copied()
    before = lower(sch.func)
    sch.double_buffer(sch.get_block("C"))
    after = lower(sch.func)
    sizes = [next(iter(walk(func, on=Allocate))).buffer.shape[0] for func in (before, after)]
    assert list(map(as_int, sizes)) == [8, 16]


def test_a_buffer_filled_once_has_no_halves() -> None:
    sch = Schedule(matmul_relu(8, 8, 4))
    with pytest.raises(ScheduleError, match="filled once"):
        sch.double_buffer(sch.get_block("C"))


def test_iterations_without_order_have_no_next_one_to_fill_for() -> None:
    sch = tile_copied()
    sch.parallel(sch.get_loops(sch.get_block("D"))[0])
    with pytest.raises(ScheduleError, match="parallel"):
        sch.double_buffer(sch.get_block("C"))


def test_what_an_iteration_computes_for_the_next_is_not_filled_ahead() -> None:
    func = parse("""def f(A: f32[9], C: f32[9]):
    for i in serial(0, 8):
        T = alloc(f32[1])
        with block("T"):
            v = axis.opaque(8, i)
            T[0] = C[v]
        with block("C"):
            w = axis.opaque(8, i)
            C[w + 1] = T[0] + A[w]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="reads what loop"):
        sch.double_buffer(sch.get_block("T"))


def test_what_is_used_before_it_is_filled_has_no_halves() -> None:
    func = parse("""def f(A: f32[8], C: f32[8]):
    T = alloc(f32[8])
    with block("I"):
        T[0] = f32(0.0)
    for i in serial(0, 8):
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = A[w]
        with block("T"):
            v = axis.spatial(8, i)
            T[v] = A[v]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="filled once"):
        sch.double_buffer(sch.get_block("T"))
    text = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        T = alloc(f32[8])
        with block("T"):
            v = axis.spatial(8, i)
            T[v] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = T[w]
        with block("U"):
            u = axis.spatial(8, i)
            T[u] = C[u]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="before it is filled"):
        sch.double_buffer(sch.get_block("T"))


def test_buffers_that_are_not_needed_together_share_memory() -> None:
    sch = Schedule(parse(STAGES), check="each")
    sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))
    assert [each.buffer.name for each in walk(sch.func, on=Allocate)] == ["B", "E"]
    assert_same_natively(parse(STAGES), sch.func)


def test_the_second_may_be_allocated_around_the_first() -> None:
    text = STAGES.replace(
        "    B = alloc(f32[6, 8])\n", "    C = alloc(f32[6, 4])\n    B = alloc(f32[6, 8])\n"
    )
    text = text.replace("    C = alloc(f32[6, 4])\n    for", "    for")
    sch = Schedule(parse(text), check="each")
    sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))
    assert [each.buffer.name for each in walk(sch.func, on=Allocate)] == ["B", "E"]


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("E", "C", "does not fit"),
        ("C", "B", "does not fit"),
        ("B", "B", "at the same time"),
    ],
)
def test_memory_is_shared_only_where_it_can_be(first: str, second: str, why: str) -> None:
    sch = Schedule(parse(STAGES))
    with pytest.raises(ScheduleError, match=why):
        sch.reuse_buffer(sch.get_block(first), sch.get_block(second))


def test_lives_that_meet_keep_memory_apart() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="at the same time"):
        sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))


def test_memory_of_another_type_or_scope_is_not_shared() -> None:
    sch = Schedule(parse(STAGES))
    sch.set_scope(sch.get_block("C"), "local")
    with pytest.raises(ScheduleError, match="type or scope"):
        sch.reuse_buffer(sch.get_block("B"), sch.get_block("C"))
    other = Schedule(parse(STAGES))
    other.storage_align(other.get_block("C"), 0, 0, 8, 0)
    with pytest.raises(ScheduleError, match="strides of its own"):
        other.reuse_buffer(other.get_block("B"), other.get_block("C"))


def test_parallel_iterations_keep_memory_of_their_own() -> None:
    text = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        T = alloc(f32[1])
        with block("T"):
            v = axis.spatial(8, i)
            T[0] = A[v]
        with block("B"):
            v = axis.spatial(8, i)
            C[v] = T[0]
    for i in parallel(0, 8):
        U = alloc(f32[1])
        with block("U"):
            v = axis.spatial(8, i)
            U[0] = C[v]
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = U[0] + A[v]
"""
    sch = Schedule(parse(text))
    with pytest.raises(ScheduleError, match="parallel loop"):
        sch.reuse_buffer(sch.get_block("T"), sch.get_block("U"))
    serial = Schedule(parse(text.replace("parallel", "serial")), check="each")
    serial.reuse_buffer(serial.get_block("T"), serial.get_block("U"))
    assert len(list(walk(serial.func, on=Allocate))) == 1


def test_a_marked_buffer_keeps_its_memory() -> None:
    sch = tile_copied()
    sch.double_buffer(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="marked"):
        sch.reuse_buffer(sch.get_block("C"), sch.get_block("C"))


def test_a_buffer_may_be_kept_in_another_type() -> None:
    sch = Schedule(matmul_relu(4, 4, 4), check="each")
    sch.unsafe_set_dtype(sch.get_block("C"), "f64")
    (home,) = walk(sch.func, on=Allocate)
    assert str(home.buffer.dtype) == "f64"
    with pytest.raises(ScheduleError, match="no vector"):
        sch.unsafe_set_dtype(sch.get_block("C"), "f32x4")


def test_storage_is_data() -> None:
    def stored(sch: Schedule) -> Schedule:
        sch.storage_align(sch.get_block("C"), buffer="C", axis=0, factor=4, offset=1)
        sch.reuse_buffer(sch.get_block("B"), sch.get_block("D0"))
        sch.unsafe_set_dtype(sch.get_block("E"), "f64")
        i = sch.get_loops(sch.get_block("D"))[0]
        sch.compute_at(sch.get_block("C"), i)
        sch.double_buffer(sch.get_block("C"))
        return sch

    text = STAGES.replace(
        "    C = alloc(",
        """    X = alloc(f32[2])
    for i in serial(0, 2):
        with block("X0"):
            v = axis.spatial(2, i)
            X[v] = E[v]
    D0 = alloc(f32[6, 8])
    for i in serial(0, 2):
        with block("D0"):
            v = axis.spatial(2, i)
            D0[v, v] = X[v]
    C = alloc(""",
    )
    sch, again = stored(Schedule(parse(text), check="each")), Schedule(parse(text))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
