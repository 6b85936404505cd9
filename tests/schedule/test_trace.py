"""A schedule is data: it prints as Python, saves as JSON, and runs again elsewhere."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit import te
from irkit.core import FormatError, IRKitError, ScheduleError, same, walk
from irkit.ir import For, PrimFunc
from irkit.schedule import BlockRef, LoopRef, Schedule, ScheduleTrace
from irkit.schedule.index_map import map_from, map_text
from tests.schedule.kernels import chain, matmul


def tiled(func: PrimFunc) -> Schedule:
    sch = Schedule(func, check="each")
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    io, ii = sch.split(i, [None, 4])
    jo, ji = sch.split(j, factors=[None, 4])
    sch.reorder(io, jo, k, ii, ji)
    copy = sch.cache_read(block, "A", "local")
    sch.transform_layout(copy, lambda m, n: (m // 2, n, m % 2))
    sch.vectorize(ji)
    return sch


def test_a_trace_runs_again_on_the_same_function() -> None:
    sch = tiled(matmul(8, 8, 8))
    again = Schedule(matmul(8, 8, 8))
    sch.trace.apply(again)
    assert same(again.func, sch.func)
    assert again.trace.as_python() == sch.trace.as_python()


def test_a_trace_runs_again_on_other_shapes() -> None:
    again = Schedule(matmul(9, 7, 5), check="each")
    tiled(matmul(8, 8, 8)).trace.apply(again)
    assert any(loop.kind == "vectorized" for loop in walk(again.func, on=For))


def test_the_python_of_a_trace_makes_the_same_schedule() -> None:
    sch = tiled(matmul(8, 8, 8))
    again = Schedule(matmul(8, 8, 8))
    exec(sch.trace.as_python(), {"sch": again})
    assert same(again.func, sch.func)


def test_a_trace_survives_a_file(tmp_path: Path) -> None:
    trace = tiled(matmul(8, 8, 8)).trace
    trace.save(tmp_path / "a.json")
    assert ScheduleTrace.load(tmp_path / "a.json") == trace


def test_references_made_by_hand_are_looked_up_in_the_trace() -> None:
    func = chain(16)
    sch = Schedule(func)
    loop = next(iter(walk(func, on=For)))
    sch.split(LoopRef(loop.var), [4, 4])
    sch.compute_inline(BlockRef("C"))
    again = Schedule(chain(16))
    sch.trace.apply(again)
    assert same(again.func, sch.func)


def test_a_step_that_failed_is_not_in_the_trace() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    before, steps = sch.func, len(sch.trace)
    with pytest.raises(ScheduleError):
        sch.split(loop, [3, 3])
    assert sch.func is before
    assert len(sch.trace) == steps


def test_a_step_that_is_not_legal_elsewhere_is_named() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.split(loop, [4, 4])
    with pytest.raises(ScheduleError) as caught:
        sch.trace.apply(Schedule(chain(17)))
    assert any("step 3" in note for note in caught.value.__notes__)


def test_an_error_shows_the_program_with_the_line_marked() -> None:
    sch = Schedule(matmul(8, 8, 8))
    *_, k = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError) as caught:
        sch.vectorize(k)
    text = str(caught.value)
    (line,) = [line for line in text.splitlines() if line.startswith(">")]
    assert "for r in serial(0, 8):" in line
    assert "takes part in the reduce axis" in text


def test_every_new_loop_says_which_step_and_line_made_it() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(loop, [4, 4])
    span = sch.loop(outer).span
    assert span is not None
    assert (span.kind, span.name) == ("schedule", "split#3")
    assert span.file == __file__
    assert __file__ in sch.trace.steps[2].where


def test_a_copy_goes_its_own_way() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    other = sch.copy()
    other.split(loop, [4, 4])
    assert len(other.trace) == len(sch.trace) + 1
    assert sch.loop(loop)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.text(max_size=40) | st.binary(max_size=40))
def test_text_that_is_no_schedule_is_an_error(text: str | bytes) -> None:
    with pytest.raises(FormatError):
        ScheduleTrace.from_json(text)


@pytest.mark.parametrize(
    "steps",
    [
        '[{"primitive": "__init__"}]',
        '[{"primitive": "copy"}]',
        '[{"primitive": "split", "args": [{"ref": "nothing"}, [2, 2]]}]',
        '[{"primitive": "get_block", "args": [7]}]',
        '[{"primitive": "get_block", "args": ["B"], "results": ["a", "b"]}]',
        '[{"primitive": "get_block", "args": [], "results": ["a"]}]',
        '[{"primitive": "cache_read", "args": [{"buffer": "Z"}]}]',
    ],
)
def test_a_hostile_trace_is_an_error(steps: str) -> None:
    trace = ScheduleTrace.from_json(f'{{"irkit_schedule": 1, "steps": {steps}}}')
    with pytest.raises(IRKitError):
        trace.apply(Schedule(chain(16)))


@pytest.mark.parametrize(
    "text",
    ["1", "lambda i: open(i)", "lambda i: i.real", "lambda i: x", "lambda i: " + "(" * 900, "("],
)
def test_an_index_map_executes_nothing(text: str) -> None:
    with pytest.raises(ScheduleError):
        map_from(text)


def test_an_index_map_prints_as_it_reads() -> None:
    text = map_text(lambda n, c: (n, c // 8, c % 8), 2)
    assert map_from(text)(3, 17) == (3, 2, 1)
    assert map_text(map_from(text), 2) == text


def test_an_index_map_may_take_any_number_of_indices() -> None:
    text = map_text(lambda *i: (*i[:-1], i[-1] // 2, i[-1] % 2), 3)
    assert text == "lambda d0, d1, d2: (d0, d1, d2 // 2, d2 % 2)"


def test_checking_after_each_step_finds_a_primitive_that_lies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = te.placeholder((6,), name="A")
    b = te.compute((6,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    wrong = te.compute((6,), lambda i: a[i] + 2.0, name="B")
    other = te.create_prim_func([a, wrong])
    monkeypatch.setattr("irkit.schedule.on_marks.mark", lambda *_: other)
    before = sch.func
    with pytest.raises(ScheduleError, match="changed the meaning"):
        sch.unroll(sch.get_loops(sch.get_block("B"))[0])
    assert sch.func is before


def test_a_function_that_is_not_what_the_reference_says_is_refused_at_once() -> None:
    a = te.placeholder((6,), name="A")
    b = te.compute((6,), lambda i: a[i] + 1.0, name="B")
    wrong = te.compute((6,), lambda i: a[i] + 2.0, name="B")
    reference = te.numpy_reference([a, b])
    sch = Schedule(te.create_prim_func([a, b]), check="each", reference=reference)
    sch.vectorize(sch.get_loops(sch.get_block("B"))[0])
    with pytest.raises(ScheduleError, match="lowering changed the meaning"):
        Schedule(te.create_prim_func([a, wrong]), check="each", reference=reference)


def test_rounding_is_no_change_of_meaning_but_a_lost_element_is() -> None:
    a = te.placeholder((64,), name="A")
    k = te.reduce_axis((0, 64), name="k")
    b = te.compute((1,), lambda i: te.sum(te.exp(a[k]), axis=k), name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    *_, loop = sch.get_loops(sch.get_block("B"))
    _, inner = sch.split(loop, [None, 8])
    sch.rfactor(inner)


def test_what_is_no_reference_is_refused_with_the_way_to_get_one() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    with pytest.raises(
        ScheduleError, match="split takes a loop as 'loop', found str 'i'"
    ) as caught:
        sch.split("i", [4, 4])  # pyright: ignore[reportArgumentType] -- the mistake
    assert "get_loops(block)" in str(caught.value)
    with pytest.raises(ScheduleError, match="takes a block as 'block', found LoopRef"):
        sch.compute_inline(loop)  # pyright: ignore[reportArgumentType] -- the mistake
    with pytest.raises(ScheduleError, match="reorder takes a loop as"):
        sch.reorder(loop, "j")  # pyright: ignore[reportArgumentType] -- the mistake
    with pytest.raises(ScheduleError, match="takes a block"):
        sch.get_loops("B")  # pyright: ignore[reportArgumentType] -- the mistake
