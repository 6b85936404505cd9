"""Which step last changed each line of a stage, run-length encoded."""

import math

import msgspec
import numpy as np

from irkit.inspector_web.runs.run import RunStage
from irkit.inspector_web.runs.steps import COMPARING
from irkit.inspector_web.views.blame import Blame, LineSteps


class BlamePage(msgspec.Struct):
    """Which step last changed each line, as pairs of a step and a number of lines.

    ``more`` if earlier states have to be compared first, so the page has to ask again.
    """

    runs: list[tuple[int, int]]
    more: bool = False


def blame_page(blame: Blame, stage: RunStage, *, seconds: float = COMPARING) -> BlamePage:
    """Find which step last changed each line, unless that takes more than ``seconds``."""
    found = blame.within(stage.states, seconds)
    return BlamePage([], more=True) if found is None else BlamePage(run_lengths(found))


def blamed(blame: Blame, stage: RunStage) -> list[tuple[int, int]]:
    """List which step last changed each line, as pairs of a step and a number of lines."""
    found = blame.within(stage.states, math.inf)
    assert found is not None
    return run_lengths(found)


def run_lengths(found: LineSteps) -> list[tuple[int, int]]:
    """Encode a number, at least -1, for each line as pairs of a number and how often it stands."""
    begins = np.flatnonzero(np.diff(found, prepend=-2))  # No step has that number.
    lengths = np.diff(begins, append=len(found))
    return list(zip(found[begins].tolist(), lengths.tolist(), strict=True))
