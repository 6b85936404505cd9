"""A trace prints as Python, is saved as JSON, and runs on other functions."""

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import FormatError, IRKitError, ScheduleError, same, walk
from irkit.ir import For, PrimFunc
from irkit.schedule import BlockRef, LoopRef, Schedule, ScheduleTrace
from tests.draws import few_or_all
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


def test_a_step_that_is_not_legal_elsewhere_is_named() -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.split(loop, [4, 4])
    with pytest.raises(ScheduleError) as caught:
        sch.trace.apply(Schedule(chain(17)))
    assert any("step 3" in note for note in caught.value.__notes__)


@settings(max_examples=few_or_all(20, 50), derandomize=True, deadline=None)
@given(st.text(max_size=40) | st.binary(max_size=40))
def test_text_that_is_not_a_schedule_is_an_error(text: str | bytes) -> None:
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
def test_a_malformed_trace_is_an_error(steps: str) -> None:
    trace = ScheduleTrace.from_json(f'{{"irkit_schedule": 1, "steps": {steps}}}')
    with pytest.raises(IRKitError):
        trace.apply(Schedule(chain(16)))


def test_a_trace_prints_as_json_a_step_a_line_and_reads_back() -> None:
    trace = tiled(matmul(8, 8, 8)).trace
    text = trace.as_json_lines()
    assert len(text.splitlines()) == len(trace) + 2
    assert ScheduleTrace.from_json(text) == trace


def test_a_trace_without_lines_of_the_program_is_the_same_otherwise() -> None:
    trace = tiled(matmul(8, 8, 8)).trace
    assert any(step.where for step in trace.steps)
    plain = trace.without_where()
    assert not any(step.where for step in plain.steps)
    assert plain.as_python() == trace.as_python()
