"""A loop works on a copy of what it touches, and others see no difference."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit import te
from irkit.core import ScheduleError, same, walk
from irkit.ir import Allocate, Buffer, PrimFunc, as_int, parse
from irkit.phases import lower
from irkit.schedule import LoopRef, Schedule, ScheduleTrace
from tests.schedule.kernels import assert_same_natively, chain, matmul, matmul_relu

IN_PLACE = """def f(A: f32[4, 6]):
    for i in serial(0, 4):
        for j in serial(0, 6):
            with block("A"):
                v = axis.spatial(4, i)
                w = axis.spatial(6, j)
                A[v, w] = A[v, w] * f32(2.0)
"""

WINDOWS = """def f(A: f32[10], C: f32[8]):
    for i in serial(0, 4):
        for j in serial(0, 2):
            with block("C"):
                v = axis.spatial(8, i * 2 + j)
                C[v] = (A[v - 1] if v >= 1 else f32(0.0)) + A[v + 2]
"""


def tiled(n: int, tile: int) -> tuple[Schedule, list[LoopRef]]:
    sch = Schedule(matmul(n, n, n), check="each")
    i, j, k = sch.get_loops(sch.get_block("C"))
    io, ii = sch.split(i, [None, tile])
    jo, ji = sch.split(j, [None, tile])
    ko, ki = sch.split(k, [None, tile])
    sch.reorder(io, jo, ko, ii, ji, ki)
    return sch, [io, jo, ko, ii, ji, ki]


def sizes(func: PrimFunc) -> dict[str, int | None]:
    """Say how large buffers are in the end."""
    found = lower(func)
    assert isinstance(found, PrimFunc)
    return {a.buffer.name: as_int(a.buffer.shape[0]) for a in walk(found, on=Allocate)}


@settings(max_examples=10, deadline=None, derandomize=True)
@given(n=st.integers(1, 9), tile=st.integers(1, 4), at=st.integers(0, 5))
def test_any_loop_may_work_on_copies_of_all_that_it_touches(n: int, tile: int, at: int) -> None:
    sch, loops = tiled(n, tile)
    for name in "ABC":
        sch.stage_mem(loops[at], name, "local")
    assert len(list(walk(sch.func, on=Allocate))) == 3


def test_the_copies_become_as_small_as_the_part() -> None:
    sch, loops = tiled(8, 4)
    assert [each.name for each in sch.stage_mem(loops[3], "A")] == ["A_local_in"]
    assert [each.name for each in sch.stage_mem(loops[2], "C")] == ["C_local_out"]
    assert set(sizes(sch.func).values()) == {16}
    assert_same_natively(matmul(8, 8, 8), sch.func)


def test_what_a_loop_goes_on_from_is_copied_in_and_back() -> None:
    sch, loops = tiled(8, 4)
    names = [each.name for each in sch.stage_mem(loops[3], "C")]
    assert names == ["C_local_in", "C_local_out"]
    assert_same_natively(matmul(8, 8, 8), sch.func)


def test_a_part_that_reaches_beyond_the_buffer_is_clamped() -> None:
    sch = Schedule(parse(WINDOWS), check="each")
    block = sch.get_block("C")
    copy = sch.read_at(sch.get_loops(block)[0], block, "A", "shared")
    assert copy.name == "A_shared_in"
    assert "v0" in sch.mod.script()
    assert_same_natively(parse(WINDOWS), sch.func)
    assert sizes(sch.func)["A_shared"] == 5


def test_a_tile_is_written_at_the_end_of_each_iteration() -> None:
    sch, loops = tiled(8, 4)
    block = sch.get_block("C")
    assert sch.write_at(loops[1], block, 0).name == "C_local_out"
    assert_same_natively(matmul(8, 8, 8), sch.func)


def test_a_row_is_read_where_another_block_computed_it() -> None:
    sch = Schedule(chain(16), check="each")
    i, _ = sch.split(sch.get_loops(sch.get_block("D"))[0], [None, 4])
    sch.compute_at(sch.get_block("C"), i)
    sch.read_at(i, sch.get_block("C"), "B")
    with pytest.raises(ScheduleError, match="allocated there"):
        sch.read_at(i, sch.get_block("D"), "C")


def test_a_block_changes_a_copy_in_place() -> None:
    sch = Schedule(parse(IN_PLACE), check="each")
    names = [each.name for each in sch.cache_inplace(sch.get_block("A"), "A")]
    assert names == ["A_local_in", "A_local_out"]
    assert_same_natively(parse(IN_PLACE), sch.func)


def test_what_is_only_read_is_not_changed_in_place() -> None:
    sch = Schedule(matmul(4, 4, 4))
    with pytest.raises(ScheduleError, match="both read and write"):
        sch.cache_inplace(sch.get_block("C"), "A")


def test_a_loop_that_does_not_touch_a_buffer_stages_nothing() -> None:
    sch = Schedule(chain(8))
    with pytest.raises(ScheduleError, match="nothing there touches"):
        sch.stage_mem(sch.get_loops(sch.get_block("B"))[0], "C")


def test_what_is_written_there_is_not_only_read() -> None:
    sch = Schedule(parse(IN_PLACE))
    block = sch.get_block("A")
    with pytest.raises(ScheduleError, match="written there"):
        sch.read_at(sch.get_loops(block)[0], block, "A")


def test_what_another_block_touches_is_not_only_written() -> None:
    text = """def f(A: f32[8], C: f32[8], D: f32[8]):
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = A[v]
        with block("D"):
            v = axis.spatial(8, i)
            D[v] = C[v]
"""
    sch = Schedule(parse(text), check="each")
    block = sch.get_block("C")
    (loop,) = sch.get_loops(block)
    with pytest.raises(ScheduleError, match="something else"):
        sch.write_at(loop, block, "C")
    names = [each.name for each in sch.stage_mem(loop, "C")]
    assert names == ["C_local_in", "C_local_out"]


def test_a_block_elsewhere_cannot_be_served() -> None:
    sch = Schedule(chain(8))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(ScheduleError, match="not under the loop"):
        sch.read_at(loop, sch.get_block("D"), "A")
    with pytest.raises(ScheduleError, match="writes no buffer"):
        sch.write_at(loop, sch.get_block("B"), "A")


def test_iterations_that_run_together_do_not_copy_what_others_write() -> None:
    text = """def f(A: f32[8], C: f32[9]):
    for i in parallel(0, 2):
        for j in serial(0, 4):
            with block("C"):
                v = axis.spatial(8, j * 2 + i)
                C[v] = A[v]
"""
    sch = Schedule(parse(text))
    i, j = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="disturb each other"):
        sch.stage_mem(j, "C")
    sch.stage_mem(i, "C")
    assert_same_natively(parse(text), sch.func)


def test_lanes_share_no_copy() -> None:
    sch = Schedule(matmul_relu(4, 4, 4))
    i, j = sch.get_loops(sch.get_block("D"))
    sch.vectorize(i)
    with pytest.raises(ScheduleError, match="vectorized"):
        sch.stage_mem(j, "C")


def test_a_view_hides_what_is_touched() -> None:
    func = parse("""def f(A: f32[4, 4], C: f32[16]):
    V = view(A, f32[16], offset=0)
    for i in serial(0, 16):
        with block("C"):
            v = axis.spatial(16, i)
            C[v] = V[v] + A[0, 0]
""")
    sch = Schedule(func)
    with pytest.raises(ScheduleError, match="view"):
        sch.stage_mem(sch.get_loops(sch.get_block("C"))[0], "A")


def test_a_loop_that_may_stop_writes_where_it_always_did() -> None:
    func = parse("""def f(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        with block("C"):
            v = axis.spatial(4, i)
            assert v < 9, "no"
            C[v] = A[v]
""")
    sch = Schedule(func)
    (loop,) = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="may stop"):
        sch.stage_mem(loop, "C")
    sch.stage_mem(loop, "A")


def test_symbolic_sizes_are_copied_whole_or_in_part() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    (i,) = sch.get_loops(sch.get_block("B"))
    io, ii = sch.split(i, [None, 4])
    sch.stage_mem(ii, "A")
    sch.stage_mem(ii, "B")
    sch.stage_mem(io, "A")
    assert all(isinstance(each.buffer, Buffer) for each in walk(sch.func, on=Allocate))


def test_staging_is_data() -> None:
    def staged(sch: Schedule) -> Schedule:
        block = sch.get_block("C")
        i, j, k = sch.get_loops(block)
        sch.stage_mem(k, "A", scope="local")
        sch.stage_mem(i, sch.buffer("B"))
        sch.write_at(j, block, 0)
        sch.cache_inplace(block, "C_local", "shared")
        return sch

    sch, again = staged(Schedule(matmul(4, 4, 4), check="each")), Schedule(matmul(4, 4, 4))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
