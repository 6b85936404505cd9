"""The difference of two texts in the fewest lines, by line numbers."""

from functools import cached_property

import numpy as np

from irkit.inspector_web.diff.lcs import CommonLines, common_lines
from irkit.inspector_web.text.lines import Ids, Places


class Hunk(tuple[int, int, int, int]):
    """A hunk: lines ``begin`` to ``end`` of the text before became ``new_begin`` to ``new_end``.

    Ranges are half-open and counted from 0; one of them can be empty.
    """

    __slots__ = ()

    @property
    def old(self) -> range:
        return range(self[0], self[1])

    @property
    def new(self) -> range:
        return range(self[2], self[3])


class Diff:
    """The difference of two texts. ``kept`` pairs the lines that stay."""

    def __init__(self, before: Ids, after: Ids, kept: CommonLines) -> None:
        self.before, self.after, self.kept = before, after, kept

    @property
    def removed(self) -> int:
        """The number of removed lines."""
        return len(self.before) - len(self.kept.before)

    @property
    def added(self) -> int:
        """The number of added lines."""
        return len(self.after) - len(self.kept.after)

    @property
    def exact(self) -> bool:
        """True if no smaller difference exists."""
        return self.kept.exact

    @cached_property
    def touched(self) -> Places:
        """The numbers of the lines that were removed or added, each once."""
        gone = np.delete(self.before, self.kept.before)
        new = np.delete(self.after, self.kept.after)
        return np.unique(np.concatenate([gone, new])).astype(np.int64)

    @cached_property
    def hunks(self) -> tuple[Hunk, ...]:
        """The places where the texts differ, in order."""
        before = _with_ends(self.kept.before, len(self.before))
        after = _with_ends(self.kept.after, len(self.after))
        at = np.flatnonzero((np.diff(before) > 1) | (np.diff(after) > 1))
        bounds = np.stack([before[at] + 1, before[at + 1], after[at] + 1, after[at + 1]], axis=1)
        return tuple(Hunk(row) for row in bounds.tolist())


def _with_ends(places: Places, length: int) -> Places:
    return np.concatenate([[-1], places, [length]])


def diff_lines(before: Ids, after: Ids) -> Diff:
    """Compare two texts."""
    return Diff(before, after, common_lines(before, after))
