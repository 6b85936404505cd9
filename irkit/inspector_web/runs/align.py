"""Two runs side by side: which steps correspond, and where the runs differ."""

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
    """Corresponding steps of two runs; None if a step has no counterpart."""

    left: int | None
    right: int | None


def align(left: Trace, right: Trace) -> list[Pair]:
    """Pair the steps of two runs by level, phase, pass and function.

    As many steps as possible get a counterpart, in order on both sides.
    """
    return _pair_steps(
        [_key_of_step(step) for step in left], [_key_of_step(step) for step in right]
    )


def _key_of_step(step: Step) -> StepKey:
    return step.level.name, step.phase, step.name, step.function


def _pair_steps(left: Sequence[StepKey], right: Sequence[StepKey]) -> list[Pair]:
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


def _numbered(keys: Sequence[StepKey], numbers: dict[StepKey, int]) -> Ids:
    """Number the steps so that counterparts have the same number."""
    return np.array([numbers.setdefault(each, len(numbers)) for each in keys], dtype=np.int32)


class Beside(msgspec.Struct, frozen=True):
    """Corresponding steps of two runs by number (None without a counterpart), and whether the text
    after them is the same."""

    left: int | None
    right: int | None
    same: bool


def beside(workspace: Workspace, left: Run, right: Run, function: str) -> list[Beside]:
    """Pair the steps of two runs on one function, failed steps included."""
    mine, theirs = (run.steps.rows(Filter(function=function)) for run in (left, right))
    made: list[Beside] = []
    for pair in _pair_steps(
        [_key_of_row(row) for row in mine], [_key_of_row(row) for row in theirs]
    ):
        a = None if pair.left is None else mine[pair.left].index
        b = None if pair.right is None else theirs[pair.right].index
        same = a is not None and b is not None and _same_text(workspace, (left, a), (right, b))
        made.append(Beside(a, b, same))
    return made


def _key_of_row(row: StepRow) -> StepKey:
    return row.level, row.phase, row.name, row.function


def _same_text(workspace: Workspace, *steps: tuple[Run, int]) -> bool:
    first, second = (workspace.stage(f"{run.number}.{at}.a").ids for run, at in steps)
    return np.array_equal(first, second)
