"""Two runs beside each other: which step of one is which of the other, and where they differ."""

from collections.abc import Sequence

import msgspec
import numpy as np

from irkit.inspector_web.diff.line_diff import diff_lines
from irkit.inspector_web.runs.run import Run
from irkit.inspector_web.runs.steps import Filter, StepRow
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.text.lines import Ids
from irkit.transform import Step, Trace

StepKey = tuple[str, int, str, str]


class Pair(msgspec.Struct, frozen=True):
    """Two steps of two runs that stand beside each other; None where one has no counterpart."""

    left: int | None
    right: int | None


def align(left: Trace, right: Trace) -> list[Pair]:
    """Put the steps of two runs beside each other by level, phase, pass and function.

    As many steps as possible, in order on both sides, find a counterpart.
    """
    return _paired([_place(step) for step in left], [_place(step) for step in right])


def _place(step: Step) -> StepKey:
    return step.level.name, step.phase, step.name, step.function


def _paired(left: Sequence[StepKey], right: Sequence[StepKey]) -> list[Pair]:
    numbers: dict[StepKey, int] = {}
    kept = diff_lines(_numbered(left, numbers), _numbered(right, numbers)).kept
    pairs: list[Pair] = []
    i = j = 0
    ends = [(len(left), len(right))]
    both = [*zip(kept.before.tolist(), kept.after.tolist(), strict=True), *ends]
    for at, other in both:
        pairs += [Pair(only, None) for only in range(i, at)]
        pairs += [Pair(None, only) for only in range(j, other)]
        if at < len(left):
            pairs.append(Pair(at, other))
        i, j = at + 1, other + 1
    return pairs


def _numbered(places: Sequence[StepKey], numbers: dict[StepKey, int]) -> Ids:
    """Number the steps so that counterparts have one number."""
    return np.array([numbers.setdefault(each, len(numbers)) for each in places], dtype=np.int32)


class Beside(msgspec.Struct, frozen=True):
    """Two steps by their numbers in their runs, None where one has no counterpart, and whether the
    text after them is the same."""

    left: int | None
    right: int | None
    same: bool


def beside(workspace: Workspace, left: Run, right: Run, function: str) -> list[Beside]:
    """Put the steps on one function of two runs beside each other, failed ones too."""
    mine, theirs = (run.steps.rows(Filter(function=function)) for run in (left, right))
    made: list[Beside] = []
    for pair in _paired([_row_place(row) for row in mine], [_row_place(row) for row in theirs]):
        a = None if pair.left is None else mine[pair.left].index
        b = None if pair.right is None else theirs[pair.right].index
        same = a is not None and b is not None and _alike(workspace, (left, a), (right, b))
        made.append(Beside(a, b, same))
    return made


def _row_place(row: StepRow) -> StepKey:
    return row.level, row.phase, row.name, row.function


def _alike(workspace: Workspace, *steps: tuple[Run, int]) -> bool:
    first, second = (workspace.stage(f"{run.number}.{at}.a").text.ids for run, at in steps)
    return np.array_equal(first, second)
