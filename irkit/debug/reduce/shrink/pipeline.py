"""Shorter pipelines: fewer passes, and options back at their defaults."""

from functools import partial

from irkit.core import IRKitError
from irkit.debug.reduce.case import FailingCase, Move
from irkit.transform import AnyPass, sub_pipeline

PhaseAndPass = tuple[int, AnyPass]


def passes(case: FailingCase) -> list[Move]:
    """Drop each pass, the last ones first."""
    placed = case.pipeline.placed
    return [partial(_without, p=each) for each in reversed(placed)] if _is_long(case) else []


def _is_long(case: FailingCase) -> bool:
    """Return True if a pass can be dropped: without a schedule, one must remain."""
    return len(case.pipeline.placed) > (0 if case.schedule.steps else 1)


def _without(case: FailingCase, p: PhaseAndPass) -> FailingCase | None:
    placed = case.pipeline.placed
    if p not in placed or not _is_long(case):
        return None
    at = len(placed) - 1 - placed[::-1].index(p)
    return _with_passes(case, placed[:at] + placed[at + 1 :])


def _with_passes(case: FailingCase, placed: list[PhaseAndPass]) -> FailingCase | None:
    try:
        return case.replace(pipeline=sub_pipeline(case.pipeline, placed, case.func))
    except IRKitError:
        return None


def starts(case: FailingCase) -> list[Move]:
    """Start from the result of the first passes, the largest number of them first."""
    return [partial(_from, count=count) for count in range(len(case.pipeline.placed) - 1, 0, -1)]


def _from(case: FailingCase, count: int) -> FailingCase | None:
    placed = case.pipeline.placed
    if count >= len(placed) or case.schedule.steps:
        return None
    try:
        first = sub_pipeline(case.pipeline, placed[:count], case.func)
        made = case.replace(func=first.run(case.func))
    except IRKitError:
        return None
    return _with_passes(made, placed[count:])


def options(case: FailingCase) -> list[Move]:
    """Reset each option that was set."""
    return [
        partial(_reset, at=at, option=option)
        for at, (_, p) in enumerate(case.pipeline.placed)
        for option in p.options
    ]


def _reset(case: FailingCase, at: int, option: str) -> FailingCase | None:
    placed = case.pipeline.placed
    if at >= len(placed) or option not in placed[at][1].options:
        return None
    number, p = placed[at]
    left = {name: value for name, value in p.options.items() if name != option}
    return _with_passes(case, [*placed[:at], (number, p.with_only(**left)), *placed[at + 1 :]])
