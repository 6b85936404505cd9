"""Choose where an added or removed piece begins, if several places are equivalent: at the
outermost line.

Before::

      for i in serial(0, 4):
    +     A[i] = f32(0.0)
    + for j in serial(0, 4):
          A[i] = f32(0.0)

After::

    + for i in serial(0, 4):
    +     A[i] = f32(0.0)
      for j in serial(0, 4):
          A[i] = f32(0.0)
"""

from collections.abc import Iterator

from irkit.inspector_web.diff.line_diff import Diff, Hunk
from irkit.inspector_web.text.lines import Ids, LineTable

FURTHEST = 100


def slide_hunks(difference: Diff, table: LineTable) -> Iterator[Hunk]:
    """Yield the hunks of a difference, each moved to where it reads best."""
    hunks = difference.hunks
    free = 0  # Lines after the end of the last hunk, on the side that changed.
    for at, hunk in enumerate(hunks):
        if hunk.old and hunk.new:
            yield hunk
        else:
            ids, begin, end = (
                (difference.before, hunk[0], hunk[1])
                if hunk.old
                else (difference.after, hunk[2], hunk[3])
            )
            room = hunk[0] - free
            following = hunks[at + 1][0] if at + 1 < len(hunks) else len(difference.before)
            by = _best(ids, begin, end, (room, following - hunk[1]), table)
            hunk = Hunk(place + by for place in hunk)
            yield hunk
        free = hunk[1]


def _best(ids: Ids, begin: int, end: int, room: tuple[int, int], table: LineTable) -> int:
    """Return how far to move a piece: the fewest lines that make its outermost line the first."""
    choices = [0]
    for way in (-1, 1):
        by = 0
        while abs(by) < min(room[way > 0], FURTHEST):
            first = begin + by - (way < 0)
            if ids[first] != ids[first + end - begin]:
                break
            by += way
            choices.append(by)
    return min(choices, key=lambda by: (_indent(table.lines[int(ids[begin + by])]), abs(by)))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else FURTHEST
