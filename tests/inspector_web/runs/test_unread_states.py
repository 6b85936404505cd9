"""A trace file that is opened is read only as far as it is looked at."""

from itertools import pairwise
from pathlib import Path

import msgspec
import onnx
import pytest

from irkit.core import Remark
from irkit.frontend.onnx import import_onnx
from irkit.inspector_web import LineTable, Run, Texts
from irkit.inspector_web.api import step_detail
from irkit.inspector_web.api.overview import run_info
from irkit.inspector_web.runs import steps
from irkit.inspector_web.runs.run import LEVELS, LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.text.texts import GIVEN
from irkit.ir import LOOP_LEVEL, PrimFunc, Seq, parse
from irkit.phases import GRAPH, trace as trace_of
from irkit.transform import Step, Trace
from irkit.transform.trace import state_texts
from tests.passes.loop.kernels import kernel

MODEL = Path(onnx.__file__).parent / "backend/test/data/light/light_squeezenet.onnx"
LINES = "".join(f"    A[{at % 8}] = A[{at % 7}] + f32({at}.5)\n" for at in range(200))


def halved(func: PrimFunc) -> PrimFunc:
    """Return a function without the second half of its statements."""
    assert isinstance(func.body, Seq)
    stmts = func.body.stmts
    return func.replace(body=Seq(stmts[: len(stmts) // 2]))


@pytest.fixture
def opened(tmp_path: Path) -> Trace:
    funcs = [parse(f"def f(A: f32[8]):\n{LINES}")]
    for _ in range(4):
        funcs.append(halved(funcs[-1]))
    said = (Remark(funcs[0], "seen"),)
    pairs = enumerate(pairwise(funcs))
    made = [
        Step(at, LOOP_LEVEL, 0, "", "p", "p", {}, "f", *both, 0.0, remarks=said)
        for at, both in pairs
    ]
    Trace(made).save(tmp_path / "f.trace")
    return Trace.load(tmp_path / "f.trace", LEVELS)


def test_the_list_of_a_large_trace_reads_no_state(
    opened: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "MOST_READ", 0)
    unread = [step.unread for step in opened]
    assert min(unread) > 200
    run = Run(LoadedTrace(opened, "f"), 0, LineTable())
    info = run_info(run)
    assert [(row.status, row.remarks) for row in info.steps] == [("changed", 1)] * 4
    assert run.functions == ("f",)
    assert [step.unread for step in opened] == unread
    run.steps.diff(0)
    assert [step.unread > 0 for step in opened] == [False, True, True, True]
    rows = run_info(run).steps
    assert [row.before is not None for row in rows] == [True, False, False, False]


def test_small_states_are_counted_in_the_list(opened: Trace) -> None:
    rows = Run(LoadedTrace(opened, "f"), 0, LineTable()).steps.rows(seconds=60)
    assert [row.before for row in rows[1:]] == [row.after for row in rows[:-1]]
    assert not any(step.unread for step in opened)


def test_texts_of_a_file_do_not_depend_on_what_is_read_first(tmp_path: Path) -> None:
    made = trace_of(kernel("SOFTMAX"))
    made.save(tmp_path / "f.trace")
    expected = Texts(made)
    texts = Texts(Trace.load(tmp_path / "f.trace", LEVELS))
    for at in reversed(range(len(made))):
        for side in ("after", "before"):
            assert texts.lines(at, side) == expected.lines(at, side)


def test_a_state_that_is_read_first_belongs_to_its_function(opened: Trace) -> None:
    texts = Texts(opened)
    assert texts.history_of(opened[3].after) == "f"
    assert texts.history_of(parse(f"def f(A: f32[8]):\n{LINES}")) is None


def test_states_are_those_of_the_ir_also_of_modules(tmp_path: Path) -> None:
    steps_of_graph = list(GRAPH.steps(import_onnx(MODEL), verify=False))[:8]
    Trace(steps_of_graph).save(tmp_path / "m.trace")
    for trace in (Trace(steps_of_graph), Trace.load(tmp_path / "m.trace", LEVELS)):
        keys: dict[object, int] = {}
        for step in trace:
            sides = [step.states(side) for side in ("before", "after")]
            for states, ir in zip(sides, (step.before, step.after), strict=True):
                funcs = getattr(ir, "functions", {step.function: ir})
                assert [each.name for each in states] == list(funcs)
                for each, func in zip(states, funcs.values(), strict=True):
                    assert each.read() is func
                    assert keys.setdefault(each.key, id(func)) == id(func)
        assert len(keys) == len(set(keys.values()))


def test_a_line_of_a_huge_function_is_blamed_without_reading_it(
    opened: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_texts, "LARGE", 0)
    monkeypatch.setattr(step_detail, "MOST_READ_FOR_LINE", 0)
    opened.save(tmp_path / "g.trace")
    again = Trace.load(tmp_path / "g.trace", LEVELS)
    unread = [step.unread for step in again]
    workspace = Workspace([LoadedTrace(again, "g")])
    info = step_detail.line_info(workspace.stage("0.3.a"), 5)
    assert (info.code, info.function, info.step) == ("A[3] = A[3] + 3.5", "f", GIVEN)
    assert info.unread == unread[3]
    assert [step.unread for step in again] == unread
    monkeypatch.undo()
    told = step_detail.line_info(workspace.stage("0.3.a"), 5)
    assert told == msgspec.structs.replace(info, unread=0, origins=[("text", "", ":5")])
