"""Schedules are checked like passes, and reduced with the function."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from irkit.core import IRKitError, IRModule, ScheduleError
from irkit.debug import (
    PrimitiveFailed,
    bisect,
    check,
    failure_of,
    find_case,
    reduce,
    scheduled_steps,
    write_case,
)
from irkit.debug.reduce.case import FailingCase
from irkit.debug.reduce.failure import Failure
from irkit.debug.reduce.reduce import ReduceResult
from irkit.ir import PrimFunc, parse, script
from irkit.passes import BUILTIN
from irkit.phases import DEFAULT
from irkit.schedule import Schedule, ScheduleTrace
from irkit.schedule.primitives.loops.fuse import fuse as right_fuse
from irkit.transform import Registry
from tests.debug.reduce import wrong_passes
from tests.schedule.kernels import matmul_relu

KNOWN = Registry(BUILTIN)


def schedule(func: PrimFunc) -> ScheduleTrace:
    """Tile, reorder, cache and annotate; some splits are not exact."""
    sch = Schedule(func)
    block, last = sch.get_block("C"), sch.get_block("D")
    i, j, k = sch.get_loops(block)
    i_outer, i_inner = sch.split(i, [None, 4])
    j_outer, j_inner = sch.split(j, factor=3)
    k_outer, k_inner = sch.split(k, [2, None])
    sch.reorder(i_outer, j_outer, k_outer, k_inner, i_inner, j_inner)
    sch.cache_read(block, sch.buffer("A"))
    fused = sch.fuse(*sch.get_loops(last))
    sch.split(fused, [None, 5])
    sch.unroll(i_inner)
    sch.parallel(i_outer)
    return sch.trace


@pytest.fixture
def func() -> PrimFunc:
    return matmul_relu(6, 10, 4)


@pytest.fixture
def trace(func: PrimFunc) -> ScheduleTrace:
    return schedule(func)


@pytest.fixture
def lose_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irkit.schedule.primitives.loops.split._guard", lambda body, _: body)


def written_tests(path: Path) -> list[Callable[[], None]]:
    return [each for name, each in runpy.run_path(str(path)).items() if name.startswith("test_")]


def primitives(trace: ScheduleTrace) -> list[str]:
    return [step.primitive for step in trace.steps if not step.primitive.startswith("get_")]


def reduced(
    func: PrimFunc, trace: ScheduleTrace, pipeline: Any = DEFAULT
) -> tuple[ReduceResult, Failure]:
    found = find_case(pipeline, func, schedule=trace)
    assert found is not None
    return reduce(*found, seconds=10), found[1]


def test_every_step_of_a_correct_schedule_passes(func: PrimFunc, trace: ScheduleTrace) -> None:
    found = check(scheduled_steps(func, trace, DEFAULT), samples=2)
    assert all(each.ok for each in found)
    assert [each.index for each in found] == list(range(len(found)))
    names = [each.name for each in found if each.name.startswith("sch.")]
    assert names == [f"sch.{name}" for name in primitives(trace)]


@pytest.mark.long
def test_a_correct_schedule_has_no_culprit(func: PrimFunc, trace: ScheduleTrace) -> None:
    assert bisect(DEFAULT, func, schedule=trace) is None
    assert find_case(DEFAULT, func, schedule=trace) is None


@pytest.mark.usefixtures("lose_guards")
def test_the_guilty_step_is_named_with_its_change(func: PrimFunc, trace: ScheduleTrace) -> None:
    culprit = bisect(DEFAULT, func, schedule=trace)
    assert culprit is not None
    assert culprit.verdict.name == "sch.split"
    text = str(culprit)
    assert text.startswith("schedule: 'step 4: ")
    assert "sch.split(i, [None, 4])" in text.splitlines()[0]
    assert f"the step is from {__file__}:" in text
    assert "+        for i_1_1 in serial(0, 4):" in text


def test_a_wrong_pass_after_a_correct_schedule_is_named(
    func: PrimFunc, trace: ScheduleTrace
) -> None:
    pipeline = DEFAULT.insert(wrong_passes.subtract, phase=0)
    culprit = bisect(pipeline, func, schedule=trace)
    assert culprit is not None
    assert culprit.verdict.name == "subtract"
    assert len(culprit.rewrites) == 1


def test_a_lost_guard_is_reduced_to_one_split_and_a_test(
    func: PrimFunc, trace: ScheduleTrace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("irkit.schedule.primitives.loops.split._guard", lambda body, _: body)
        small, failure = reduced(func, trace)
        assert failure.name == "sch.split"
        assert small.finished
        assert primitives(small.case.schedule) == ["split"]
        assert small.after.steps <= 3
        assert (small.after.passes, small.after.elements <= 2) == (0, True)
        assert small.after.lines <= 6
        path = write_case(tmp_path, small.case.reread(), failure, KNOWN)
        with pytest.raises(AssertionError, match=r"sch\.split"):
            written_tests(path)[0]()
    written_tests(path)[0]()
    kept = ScheduleTrace.load(tmp_path / "reduced_schedule.json")
    assert kept == small.case.schedule
    assert not any(step.where for step in kept.steps)
    assert "# sch.split" in path.read_text() or "= sch.split" in path.read_text()


def test_a_wrong_late_step_is_reduced_to_start_from_the_steps_before(
    func: PrimFunc, trace: ScheduleTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fuse(func: PrimFunc, loops: Any) -> Any:
        made, var = right_fuse(func, loops)
        return wrong_passes.subtract(made), var

    monkeypatch.setattr("irkit.schedule.methods.loops.fuse", fuse)
    small, failure = reduced(func, trace)
    assert failure.name == "sch.fuse"
    assert primitives(small.case.schedule) == ["fuse"]
    assert failure.is_like(failure_of(small.case))


@pytest.mark.long
def test_a_wrong_pass_leaves_no_schedule(
    func: PrimFunc, trace: ScheduleTrace, tmp_path: Path
) -> None:
    pipeline = DEFAULT.insert(wrong_passes.subtract, phase=0)
    small, failure = reduced(func, trace, pipeline)
    assert failure.name == "subtract"
    assert small.case.schedule == ScheduleTrace()
    assert small.case.pipeline.names == ("subtract",)
    (tmp_path / "reduced_schedule.json").write_text("of an earlier case")
    (test,) = written_tests(write_case(tmp_path, small.case, failure, KNOWN))
    assert not (tmp_path / "reduced_schedule.json").exists()
    with pytest.raises(AssertionError, match="subtract"):
        test()


def test_a_primitive_that_raises_is_a_verdict_and_is_reduced(
    func: PrimFunc, trace: ScheduleTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reorder(func: PrimFunc, order: Any) -> PrimFunc:
        raise KeyError("order")

    monkeypatch.setattr("irkit.schedule.methods.loops.reorder", reorder)
    last = check(scheduled_steps(func, trace, DEFAULT))[-1]
    assert (last.status, last.name) == ("failed", "sch.reorder")
    assert str(last).endswith("it raised KeyError: 'order'")
    small, failure = reduced(func, trace)
    assert (failure.kind, failure.exception) == ("exception", "KeyError")
    assert primitives(small.case.schedule) == ["reorder"]
    assert small.after.nodes <= 12


def test_a_primitive_whose_result_does_not_verify_is_reduced(
    func: PrimFunc, trace: ScheduleTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "irkit.schedule.methods.loops.reorder", lambda func, _: wrong_passes.leave_undefined(func)
    )
    with pytest.raises(PrimitiveFailed, match=r"schedule: 'step .*: its result does not verify"):
        list(scheduled_steps(func, trace, DEFAULT))
    culprit = bisect(DEFAULT, func, schedule=trace)
    assert culprit is not None
    assert culprit.verdict.name == "sch.reorder"
    assert culprit.diff() != []
    small, failure = reduced(func, trace)
    assert failure.kind == "problems"
    assert primitives(small.case.schedule) == ["reorder"]


def test_a_schedule_that_does_not_fit_is_a_user_error(trace: ScheduleTrace) -> None:
    other = parse("def f(A: f32[2]):\n    A[0] = f32(1.0)\n")
    with pytest.raises(ScheduleError):
        check(scheduled_steps(other, trace, DEFAULT))
    with pytest.raises(ScheduleError):
        find_case(DEFAULT, other, schedule=trace)
    case = FailingCase(other, DEFAULT, {"A": [0.0, 0.0]}, trace)
    assert failure_of(case) is None


def test_in_a_module_the_only_function_or_main_is_scheduled(
    func: PrimFunc, trace: ScheduleTrace
) -> None:
    named = func.replace(name="main")
    other = parse("def f(A: f32[2]):\n    A[0] = f32(1.0)\n")
    for module in (IRModule({"g": func}), IRModule({"f": other, "main": named})):
        steps = [*scheduled_steps(module, trace, DEFAULT)]
        assert sum(step.name.startswith("sch.") for step in steps) == len(primitives(trace))
    with pytest.raises(IRKitError, match="the module has several functions to schedule: f, g"):
        list(scheduled_steps(IRModule({"f": other, "g": func}), trace, DEFAULT))


def test_the_same_call_gives_the_same_schedule(
    func: PrimFunc, trace: ScheduleTrace, lose_guards: None
) -> None:
    first, second = reduced(func, trace)[0], reduced(func, trace)[0]
    assert script(first.case.func) == script(second.case.func)
    assert first.case.schedule == second.case.schedule
    assert first.candidates == second.candidates


def test_the_interpreter_may_see_a_native_failure_earlier_and_as_another_kind() -> None:
    seen = Failure("differs", "sch.reorder", native=True)
    assert seen.is_like(Failure("failed", "sch.split"))
    assert not seen.is_like(Failure("differs", "simplify"))
    assert not seen.is_like(Failure("problems", "sch.reorder"))
    assert not Failure("differs", "sch.reorder").is_like(Failure("failed", "sch.reorder"))
    assert Failure("differs", "simplify", native=True).is_like(Failure("failed", "simplify"))
