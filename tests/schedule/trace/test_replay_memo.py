"""A replay that was legal before runs as one step; whatever differs from it runs all checks."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import irkit
from examples.schedules import matmul
from irkit.core import IRKitError, same, symbols_bound
from irkit.ir import PrimFunc, parse, verify
from irkit.schedule import Schedule, ScheduleTrace, TraceStep
from irkit.schedule.trace.replay_memo import MOST_REPLAYS, REPLAYS
from irkit.schedule.trace.traced_schedule import TracedSchedule

N = 96


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    REPLAYS.clear()
    yield
    REPLAYS.clear()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the primitives that ran, with their checks."""
    names: list[str] = []
    change: Any = TracedSchedule.__dict__["_change"]

    def noted(self: TracedSchedule, method: Any, args: Any, kwargs: Any) -> Any:
        names.append(method.__name__)
        return change(self, method, args, kwargs)

    monkeypatch.setattr(TracedSchedule, "_change", noted)
    return names


def replayed(func: PrimFunc, trace: ScheduleTrace, **options: Any) -> Schedule:
    sch = Schedule(func, **options)
    sch.replay(trace)
    return sch


def outcome(func: PrimFunc, trace: ScheduleTrace) -> str:
    """Return the text of the result, or of the error."""
    try:
        return replayed(func, trace).func.script()
    except IRKitError as error:
        return f"{type(error).__name__}: {error}"


def product_trace() -> ScheduleTrace:
    return matmul.schedule(matmul.matmul(N)).trace


def test_the_second_replay_runs_no_primitive_and_gives_the_same(ran: list[str]) -> None:
    trace = product_trace()
    first = replayed(matmul.matmul(N), trace)
    ran.clear()
    again = matmul.matmul(N)
    second = replayed(again, trace)
    assert ran == []
    assert same(first.func, second.func)
    assert second.func.script() == first.func.script()
    assert not verify(second.func)
    assert second.func.params == again.params
    assert not {*symbols_bound(first.func)} & {*symbols_bound(second.func)}
    assert second.trace.without_where() == first.trace.without_where()


def test_a_schedule_goes_on_after_a_replay_in_one_step() -> None:
    trace = product_trace()
    schedules = [replayed(matmul.matmul(N), trace) for _ in range(2)]
    for sch in schedules:
        sch.annotate(sch.get_loops(sch.get_block("C"))[0], "note", 1)
        sch.unroll(sch.get_loop(sch.get_block("C"), 1))
    first, second = schedules
    assert first.func.script() == second.func.script()
    assert first.trace.without_where() == second.trace.without_where()
    REPLAYS.clear()
    assert outcome(matmul.matmul(N), second.trace) == second.func.script()


def test_references_from_before_a_replay_still_hold() -> None:
    sch = Schedule(matmul.matmul(N))
    block = sch.get_block("C")
    sch.parallel(sch.get_loops(block)[0])
    trace = sch.trace
    replayed(matmul.matmul(N), trace)
    func = matmul.matmul(N)
    loops = Schedule(func).get_loops(block)
    after = replayed(func, trace)
    assert [after.loop(ref).var for ref in loops] == [ref.var for ref in loops]


def altered(value: Any) -> list[Any]:
    """Return values that differ from one, some of which Python takes to be equal to it."""
    if isinstance(value, bool) or value is None:
        return [0 if value is False else 7]
    if isinstance(value, int):
        return [value + 1, -value, True, float(value)]
    if isinstance(value, str):
        return [value + "x"]
    if isinstance(value, tuple):
        items: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] -- of anything
        inner = [
            (*items[:at], other, *items[at + 1 :])
            for at, item in enumerate(items)
            for other in altered(item)
        ]
        return [items[::-1], items[1:], (*items, 2), *inner]
    if isinstance(value, msgspec.Struct):
        first = value.__struct_fields__[0]
        return [msgspec.structs.replace(value, **{first: "i"})]
    return []


def changes(trace: ScheduleTrace) -> Iterator[ScheduleTrace]:
    """Yield a trace without each step, with two swapped, and with each argument altered."""
    steps = trace.steps
    for at, step in enumerate(steps):
        yield ScheduleTrace((*steps[:at], *steps[at + 1 :]))
        yield ScheduleTrace((*steps[: at + 1], *steps[at:]))
        yield ScheduleTrace((*steps[:at], *steps[at : at + 2][::-1], *steps[at + 2 :]))
        for place, arg in enumerate(step.args):
            for other in altered(arg):
                args = (*step.args[:place], other, *step.args[place + 1 :])
                yield ScheduleTrace((*steps[:at], step_with(step, args=args), *steps[at + 1 :]))
        for place, (name, arg) in enumerate(step.options):
            for other in altered(arg):
                options = (*step.options[:place], (name, other), *step.options[place + 1 :])
                made = step_with(step, options=options)
                yield ScheduleTrace((*steps[:at], made, *steps[at + 1 :]))


def step_with(step: TraceStep, **changed: Any) -> TraceStep:
    return msgspec.structs.replace(step, **changed)


TAMPERED = """def f(A: f32[8, 12], B: f32[8, 12]):
    for i in serial(0, 8):
        for j in serial(0, 12):
            with block("b"):
                x = axis.spatial(8, i)
                y = axis.spatial(12, j)
                B[x, y] = A[x, y] + f32(1.0)
"""


def small_trace(func: PrimFunc) -> ScheduleTrace:
    sch = Schedule(func)
    block = sch.get_block("b")
    i, j = sch.get_loops(block)
    outer, inner = sch.split(j, [None, 1])
    sch.reorder(outer, i)
    sch.vectorize(inner)
    sch.parallel(outer)
    return sch.trace


def test_a_trace_that_was_altered_in_any_way_does_what_it_does_without_the_memo(
    ran: list[str],
) -> None:
    func = parse(TAMPERED)
    trace = small_trace(func)
    refused = 0
    tried = [each for each in changes(trace) if repr(each) != repr(trace)]
    assert len(tried) > 20
    for each in tried:
        REPLAYS.clear()
        wanted = outcome(func, each)
        REPLAYS.clear()
        outcome(func, trace)
        ran.clear()
        assert outcome(func, each) == wanted
        assert ran or "Error" in wanted
        refused += "Error" in wanted
    assert refused > 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("8", "9"),  # extents
        ("f32", "f64"),
        ("B[x, y] = A", "B[x, y] = B[x, y] + A"),
        ("def f", "def g"),
        ("A", "other"),  # a name
        ("def f", "@attrs(reassoc=True)\ndef f"),
        ("serial(0, 8)", "parallel(0, 8)"),
        ("B[x, y] = A[x, y]", "B[x, y] = A[x, 11 - y]"),
    ],
)
def test_another_function_runs_all_checks(ran: list[str], old: str, new: str) -> None:
    trace = small_trace(parse(TAMPERED))
    outcome(parse(TAMPERED), trace)
    ran.clear()
    outcome(parse(TAMPERED.replace(old, new)), trace)
    assert ran


def test_a_stronger_check_other_intrinsics_and_a_second_function_run_everything(
    ran: list[str],
) -> None:
    func = parse(TAMPERED)
    trace = small_trace(func)
    other = func.replace(name="g")
    ways = (
        dict[str, Any](check="each"),
        dict[str, Any](check="off"),
        dict[str, Any](intrinsics=irkit.schedule.Intrinsics()),
    )
    outcome(func, trace)
    for options in ways:
        ran.clear()
        replayed(func, trace, **options)
        assert ran
    ran.clear()
    Schedule(irkit.IRModule({"f": func, "g": other}), "f").replay(trace)
    assert ran


def test_an_illegal_replay_is_refused_each_time() -> None:
    func = parse(TAMPERED.replace("B[x, y] = A[x, y]", "B[x, 0] = A[x, y]"))
    trace = small_trace(parse(TAMPERED))
    errors = [outcome(func, trace) for _ in range(3)]
    assert errors[0].startswith("ScheduleError")
    assert errors == errors[:1] * 3


def test_what_was_drawn_at_random_is_not_known(ran: list[str]) -> None:
    step = TraceStep("sample_categorical", ((1, 2, 4),), (), ("v",))
    for seed in range(2):
        ran.clear()
        sch = Schedule(parse(TAMPERED), seed=seed)
        sch.replay(ScheduleTrace((step,)))
        assert ran


def test_only_the_latest_replays_are_kept() -> None:
    func = parse(TAMPERED)
    for number in range(MOST_REPLAYS + 5):
        named = func.replace(name=f"f{number}")
        replayed(named, ScheduleTrace())
    known: Any = REPLAYS.__dict__["_known"]
    assert len(known) == MOST_REPLAYS
