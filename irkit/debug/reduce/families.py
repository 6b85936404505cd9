"""Families of candidates, in the order in which they are tried."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from irkit.debug.reduce.case import FailingCase
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


class Family(msgspec.Struct, frozen=True):
    """Moves of one kind: ``moves`` lists those for a case, ``apply`` makes several at once."""

    name: str
    moves: Callable[[FailingCase], Sequence[Any]]
    apply: Callable[[FailingCase, Sequence[Any]], FailingCase | None]


def _all_moves(
    case: FailingCase, moves: Sequence[Callable[[FailingCase], FailingCase | None]]
) -> FailingCase | None:
    made: FailingCase | None = None
    for move in moves:
        made = move(made or case) or made
    return made


def _all_edits(case: FailingCase, edits: Sequence[Edit]) -> FailingCase | None:
    func = apply_edits(case.func, edits)
    return None if func is case.func else case.replace(func=func)


def _edits_of(list_edits: Callable[[PrimFunc], list[Edit]], case: FailingCase) -> list[Edit]:
    return list_edits(case.func)


def _of_edits(name: str, list_edits: Callable[[PrimFunc], list[Edit]]) -> Family:
    return Family(name, partial(_edits_of, list_edits), _all_edits)


FAMILIES = (
    Family("passes", passes, _all_moves),
    Family("schedule", step_deletions, _all_moves),
    Family("schedule start", later_starts, lambda case, moves: moves[0](case)),
    Family("start", starts, lambda case, moves: moves[0](case)),
    _of_edits("statements", deletions),
    Family("parameters", parameters, _all_moves),
    Family("numbers", numbers, _all_moves),
    _of_edits("loops", loops),
    _of_edits("bodies", hoists),
    Family("shapes", shapes, _all_moves),
    _of_edits("details", trimmings),
    _of_edits("expressions", expressions),
    Family("options", options, _all_moves),
    Family("schedule arguments", arguments, _all_moves),
    Family("schedule lines", origins, _all_moves),
    Family("inputs", values, _all_moves),
)
