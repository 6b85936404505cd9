"""The trace of each primitive replays it."""

from irkit.core import same, walk
from irkit.ir import Block, For, parse
from irkit.schedule import Schedule, ScheduleTrace
from tests.schedule.kernels import chain, matmul, matmul_relu
from tests.schedule.primitives.buffers.programs import STAGES
from tests.schedule.primitives.loops.programs import planes


def test_marks_are_data() -> None:
    def marked(sch: Schedule) -> Schedule:
        b, c, d = (sch.get_loops(sch.get_block(name))[0] for name in "BCD")
        sch.bind(b, "threadIdx.x")
        sch.annotate(c, "mine", (1, 2.5, None))
        sch.annotate(sch.get_block("C"), key="other", value="x")
        sch.pragma(d, "unroll_explicit", False)
        sch.unannotate(sch.get_block("C"), "other")
        return sch

    sch, again = marked(Schedule(chain(8))), Schedule(chain(8))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)


def test_merging_and_cutting_are_data() -> None:
    def scheduled(sch: Schedule) -> Schedule:
        rows = [sch.get_loops(sch.get_block(name))[0] for name in "BC"]
        made = sch.merge(*rows)
        sch.fission(made, after=sch.get_loops(sch.get_block("B"))[1])
        sch.lift_scope(sch.get_loops(sch.get_block("C"))[1])
        return sch

    sch, again = scheduled(Schedule(planes(3, 5))), Schedule(planes(3, 5))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    assert [block.name for block in walk(sch.func, on=Block)] == ["B", "C"]


def test_the_traces_run_again() -> None:
    sch = Schedule(matmul_relu(5, 6, 7))
    sch.pad_einsum(sch.get_block("C"), [4, 4, 4])
    again = Schedule(matmul_relu(5, 6, 7))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert again.mod.script() == sch.mod.script()


def test_partitioned_loops_replay_and_have_spans() -> None:
    def scheduled(sch: Schedule) -> Schedule:
        parts = sch.loop_partition(sch.get_loops(sch.get_block("C"))[1], [3, None, 2])
        sch.join_loops(parts[0], parts[1])
        sch.shift_loop(parts[2])
        sch.cut_loop(parts[0], at=4)
        return sch

    sch, again = scheduled(Schedule(matmul(4, 9, 3))), Schedule(matmul(4, 9, 3))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    steps = {"loop_partition", "join_loops", "shift_loop", "cut_loop"}
    assert {step.primitive for step in sch.trace.steps} >= steps
    spans = [loop.span for loop in walk(sch.func, on=For)][1:]
    assert any(span is not None and span.name.startswith("cut_loop#") for span in spans)


def test_layouts_by_axes_are_data() -> None:
    def laid_out(sch: Schedule) -> Schedule:
        block = sch.get_block("C")
        sch.reindex(block, sch.buffer("A"))
        sch.reindex_cache_read(block, "B", "local", lambda i, j, r: (j, r))
        copy = sch.reindex_cache_write(block, 0, "local", lambda i, j, r: (j // 3, i, j % 3))
        sch.transform_layout(block, lambda *i: (i[1], i[0], i[2] // 2, i[2] % 2), pad_value=1.0)
        sch.cache_index(copy)
        return sch

    sch, again = laid_out(Schedule(matmul(4, 5, 6), check="each")), Schedule(matmul(4, 5, 6))
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)


def test_a_trace_records_drawn_numbers_and_their_uses() -> None:
    sch = Schedule(matmul(16, 16, 16), seed=5)
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.split(i, sch.sample_perfect_tile(i, 3))
    width = sch.sample_categorical([2, 4, 8])
    sch.split(j, [None, width])
    assert "sch.split(j, [None, drawn_" in str(sch.trace)
    again = Schedule(matmul(16, 16, 16), seed=99)
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    printed = Schedule(matmul(16, 16, 16), seed=7)
    exec(str(sch.trace), {"sch": printed})
    assert same(printed.func, sch.func)


def test_splits_and_tiles_are_data() -> None:
    sch = Schedule(matmul(9, 10, 3))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.tile(i, j, 4, 5)
    sch.split(sch.get_loops(sch.get_block("C"))[-1], factor=2)
    again, third = Schedule(matmul(9, 10, 3)), Schedule(matmul(9, 10, 3))
    sch.trace.apply(again)
    ScheduleTrace.from_json(sch.trace.as_json()).apply(third)
    assert same(again.func, sch.func)
    assert same(third.func, sch.func)


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


def test_wrapping_is_data() -> None:
    sch, again = Schedule(chain(8)), Schedule(chain(8))
    sch.add_unit_loop(sch.get_block("C"))
    sch.env_threads(sch.get_block("B"), axes=[("threadIdx.x", 2)])
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
