"""Shorter schedules: fewer steps, simpler arguments, or a partly scheduled function.

A candidate that no longer fits is rejected when it is tried.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from irkit.debug.reduce.case import FailingCase, Move
from irkit.schedule import Ref, Schedule, ScheduleTrace, TraceStep, Value

_SIMPLE = (1, 2, 3, 4)


def step_deletions(case: FailingCase) -> list[Move]:
    """Drop each step and those that use its results, the last ones first; then each step alone.

    When a step is dropped alone, steps that use its loops get its own input loop instead.
    """
    found: list[Move] = [partial(_without, step=step) for step in reversed(case.schedule.steps)]
    if any(step.primitive == "get_loops" for step in case.schedule.steps):
        found.append(_one_by_one)
    return found + [
        partial(_bypass, step=step)
        for step in reversed(case.schedule.steps)
        if step.results and _first_ref(step) is not None
    ]


def _without(case: FailingCase, step: TraceStep) -> FailingCase | None:
    left = case.schedule.without(lambda each: each is step)
    return None if len(left) == len(case.schedule) else _with_schedule(case, left)


def _bypass(case: FailingCase, step: TraceStep) -> FailingCase | None:
    given = _first_ref(step)
    if given is None or all(each is not step for each in case.schedule.steps):
        return None
    instead = dict.fromkeys(step.results, given)
    left = [each for each in case.schedule.steps if each is not step]
    return _with_schedule(case, ScheduleTrace(tuple(_renamed(each, instead) for each in left)))


def _one_by_one(case: FailingCase) -> FailingCase:
    """Look up each loop by itself, so that other loops around a block can go."""
    made: list[TraceStep] = []
    for step in case.schedule.steps:
        if step.primitive == "get_loops" and step.args:
            made += [
                TraceStep("get_loop", (step.args[0], at), (), (name,))
                for at, name in enumerate(step.results)
            ]
        else:
            made.append(step)
    return case.replace(schedule=_without_unused(ScheduleTrace(tuple(made))))


def _with_schedule(case: FailingCase, schedule: ScheduleTrace) -> FailingCase | None:
    """Replace the schedule; without steps there must be passes that can be at fault."""
    if not schedule.steps and not case.pipeline.placed:
        return None
    return case.replace(schedule=_without_unused(schedule))


def _without_unused(schedule: ScheduleTrace) -> ScheduleTrace:
    """Drop look-ups that nothing uses."""
    kept: list[TraceStep] = []
    needed: set[str] = set()
    for step in reversed(schedule.steps):
        if not _is_lookup(step) or needed.intersection(step.results):
            kept.append(step)
            needed |= step.uses
    return ScheduleTrace(tuple(reversed(kept)))


def _is_lookup(step: TraceStep) -> bool:
    """Return True if a step only looks up a block or loop."""
    return step.primitive.startswith("get_")


def _first_ref(step: TraceStep) -> Ref | None:
    return next((arg for arg in step.args if isinstance(arg, Ref)), None)


def _renamed(step: TraceStep, instead: dict[str, Ref]) -> TraceStep:
    if not step.uses & instead.keys():
        return step

    def put(value: Value) -> Value:
        if isinstance(value, Ref):
            return instead.get(value.name, value)
        return tuple(map(put, value)) if isinstance(value, tuple) else value

    return msgspec.structs.replace(
        step,
        args=tuple(map(put, step.args)),
        options=tuple((name, put(value)) for name, value in step.options),
    )


def later_starts(case: FailingCase) -> list[Move]:
    """Start from the result of the first steps, the largest number of them first."""
    return [partial(_from, count=count) for count in range(len(case.schedule), 0, -1)]


def _from(case: FailingCase, count: int) -> FailingCase | None:
    trace = case.schedule.steps
    if count > len(trace) or all(_is_lookup(step) for step in trace[:count]):
        return None
    if count == len(trace) and not case.pipeline.placed:
        return None
    found: dict[str, Any] = {}
    try:
        first = Schedule(case.func, check="off")
        for _ in first.replaying(ScheduleTrace(trace[:count]), found):
            pass
        # References of later steps to earlier results become look-ups in the new trace.
        rest = Schedule(first.func, check="off")
        for _ in rest.replaying(ScheduleTrace(trace[count:]), found):
            pass
    except (Exception, SystemExit):  # A wrong primitive can raise anything.
        return None
    return case.replace(func=first.func, schedule=_without_unused(rest.trace))


def arguments(case: FailingCase) -> list[Move]:
    """Drop options, make integers smaller and lists shorter."""
    return [
        partial(_with_step, step=step, new=new)
        for step in case.schedule.steps
        if not _is_lookup(step)
        for new in _simpler(step)
    ]


def _with_step(case: FailingCase, step: TraceStep, new: TraceStep) -> FailingCase | None:
    if all(each is not step for each in case.schedule.steps):
        return None
    made = tuple(new if each is step else each for each in case.schedule.steps)
    return case.replace(schedule=_without_unused(ScheduleTrace(made)))


def _simpler(step: TraceStep) -> Iterator[TraceStep]:
    for at in range(len(step.options)):
        rest = step.options[:at] + step.options[at + 1 :]
        yield msgspec.structs.replace(step, options=rest)
    for args in _simpler_items(step.args, shorter=not step.several):
        yield msgspec.structs.replace(step, args=args)
    for at, (name, value) in enumerate(step.options):
        for new in _simpler_values(value):
            options = (*step.options[:at], (name, new), *step.options[at + 1 :])
            yield msgspec.structs.replace(step, options=options)
    for drawn in _simpler_values(step.drawn):
        yield msgspec.structs.replace(step, drawn=drawn)


def _simpler_items(
    items: tuple[Value, ...], *, shorter: bool = False
) -> Iterator[tuple[Value, ...]]:
    for at, value in enumerate(items):
        if shorter and len(items) > 1:
            yield items[:at] + items[at + 1 :]
        for new in _simpler_values(value):
            yield (*items[:at], new, *items[at + 1 :])


def _simpler_values(value: Value) -> Iterator[Value]:
    if isinstance(value, tuple):
        yield from _simpler_items(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        numbers = dict.fromkeys((*_SIMPLE, value // 2, value - 1))
        yield from (number for number in numbers if 0 < number < value)


def origins(case: FailingCase) -> list[Move]:
    """Drop the source lines of the steps, which mean nothing elsewhere."""
    return [_without_lines] if any(step.where for step in case.schedule.steps) else []


def _without_lines(case: FailingCase) -> FailingCase | None:
    return case.replace(schedule=case.schedule.without_where())
