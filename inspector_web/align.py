"""Two runs beside each other: which step of one is which of the other."""

import msgspec
import numpy as np

from irkit.inspector_web.diff import diff
from irkit.inspector_web.lines import Ids
from irkit.transform import Trace


class Pair(msgspec.Struct, frozen=True):
    """Two steps of two runs that stand beside each other; None where one has no counterpart."""

    left: int | None
    right: int | None


def align(left: Trace, right: Trace) -> list[Pair]:
    """Put the steps of two runs beside each other by level, phase, pass and function.

    As many steps as possible, in order on both sides, find a counterpart.
    """
    numbers: dict[tuple[str, int, str, str], int] = {}
    kept = diff(*(_places(trace, numbers) for trace in (left, right))).kept
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


def _places(trace: Trace, numbers: dict[tuple[str, int, str, str], int]) -> Ids:
    """Number the steps so that counterparts have one number."""
    keys = [(step.level.name, step.phase, step.name, step.function) for step in trace]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)
