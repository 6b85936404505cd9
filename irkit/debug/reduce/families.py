"""Families of candidates, in the order in which they are tried."""

from collections.abc import Callable, Sequence
from functools import partial

from irkit.debug.reduce.case import FailingCase
from irkit.debug.reduce.search import Family, all_moves
from irkit.debug.reduce.shrink.function import (
    Edit,
    apply_edits,
    deletions,
    expressions,
    hoists,
    loops,
    trimmings,
)
from irkit.debug.reduce.shrink.inputs import values
from irkit.debug.reduce.shrink.pipeline import options, passes, starts
from irkit.debug.reduce.shrink.schedule import arguments, later_starts, origins, step_deletions
from irkit.debug.reduce.shrink.signature import numbers, parameters, shapes
from irkit.ir import PrimFunc


def _all_edits(case: FailingCase, edits: Sequence[Edit]) -> FailingCase | None:
    func = apply_edits(case.func, edits)
    return None if func is case.func else case.replace(func=func)


def _edits_of(list_edits: Callable[[PrimFunc], list[Edit]], case: FailingCase) -> list[Edit]:
    return list_edits(case.func)


def _of_edits(name: str, list_edits: Callable[[PrimFunc], list[Edit]]) -> Family[FailingCase]:
    return Family(name, partial(_edits_of, list_edits), _all_edits)


FAMILIES: tuple[Family[FailingCase], ...] = (
    Family("passes", passes, all_moves),
    Family("schedule", step_deletions, all_moves),
    Family("schedule start", later_starts, all_moves, together=False),
    Family("start", starts, all_moves, together=False),
    _of_edits("statements", deletions),
    Family("parameters", parameters, all_moves),
    Family("numbers", numbers, all_moves),
    _of_edits("loops", loops),
    _of_edits("bodies", hoists),
    Family("shapes", shapes, all_moves),
    _of_edits("details", trimmings),
    _of_edits("expressions", expressions),
    Family("options", options, all_moves),
    Family("schedule arguments", arguments, all_moves),
    Family("schedule lines", origins, all_moves),
    Family("inputs", values, all_moves),
)
SHORTENING = tuple(each for each in FAMILIES if each.name in ("numbers", "loops", "statements"))
"""Families that make a function run for less time."""
