"""FIXME Which step last changed each line, as runs of (step, how many lines); ``more``."""

import msgspec
import numpy as np

from irkit.inspector_web.runs.run import RunStage
from irkit.inspector_web.runs.steps import COMPARING
from irkit.inspector_web.views.blame import Blame, Blamed


class BlamePage(msgspec.Struct):
    """Which step last changed each line, as runs of (step, how many lines); ``more`` if earlier
    states have to be compared before that can be said."""

    runs: list[tuple[int, int]]
    more: bool = False


def blame_page(blame: Blame, stage: RunStage, *, seconds: float = COMPARING) -> BlamePage:
    """Say which step last changed each line, if ``seconds`` are enough to find out."""
    found = blame.within(stage.ir, seconds)
    return BlamePage([], more=True) if found is None else BlamePage(_runs(found))


def blamed(blame: Blame, stage: RunStage) -> list[tuple[int, int]]:
    """List which step last changed each line, as runs of (step, how many lines)."""
    return _runs(blame.of(stage.ir))


def _runs(found: Blamed) -> list[tuple[int, int]]:
    begins = np.flatnonzero(np.diff(found, prepend=-2))  # No step has that number.
    lengths = np.diff(begins, append=len(found))
    return list(zip(found[begins].tolist(), lengths.tolist(), strict=True))
