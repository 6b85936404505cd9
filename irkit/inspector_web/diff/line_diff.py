"""What changed between two texts, as the fewest lines; by line numbers, so nothing is printed."""

from functools import cached_property

import numpy as np

from irkit.inspector_web.diff.lcs import Matched, common_lines
from irkit.inspector_web.text.lines import Ids, Places


class Hunk(tuple[int, int, int, int]):
    """Lines ``begin`` to ``end`` (without) of the text before that became ``new_begin`` to
    ``new_end``; counted from 0, and one of the two ranges may be empty."""

    __slots__ = ()

    @property
    def old(self) -> range:
        return range(self[0], self[1])

    @property
    def new(self) -> range:
        return range(self[2], self[3])


class Diff:
    """The difference of two texts. ``kept`` pairs the lines that stay."""

    def __init__(self, before: Ids, after: Ids, kept: Matched) -> None:
        self.before, self.after, self.kept = before, after, kept

    @property
    def removed(self) -> int:
        """Count the lines that are gone."""
        return len(self.before) - len(self.kept.before)

    @property
    def added(self) -> int:
        """Count the lines that are new."""
        return len(self.after) - len(self.kept.after)

    @property
    def exact(self) -> bool:
        """Say whether no smaller difference exists."""
        return self.kept.exact

    @cached_property
    def touched(self) -> Places:
        """List the numbers of the lines that were removed or added, each once."""
        gone = np.delete(self.before, self.kept.before)
        new = np.delete(self.after, self.kept.after)
        return np.unique(np.concatenate([gone, new])).astype(np.int64)

    @cached_property
    def hunks(self) -> tuple[Hunk, ...]:
        """List the places where the texts differ, in order."""
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
