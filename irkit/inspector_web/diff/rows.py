"""A difference as rows of a page: side by side or one below the other, unchanged parts folded."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from irkit.inspector_web.diff.diff_slide import slide_hunks
from irkit.inspector_web.diff.line_diff import Diff, Hunk
from irkit.inspector_web.diff.line_pairs import changed_words, pair_lines
from irkit.inspector_web.text.highlight import Marks
from irkit.inspector_web.text.lines import LineTable

RowKind = Literal["same", "changed", "removed", "added", "fold"]
CONTEXT = 3
MOST_MARKED = 5_000
"""Changed lines whose words are marked; of a difference larger than that nobody reads the words."""


class Row(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One row: the lines it shows on the left and right, counted from 1, 0 for none, and the tokens
    marked in them.

    A ``fold`` stands for ``count`` rows of equal lines, the first of which are ``left`` and
    ``right``.
    """

    kind: RowKind
    left: int = 0
    right: int = 0
    left_marks: Marks = ()
    right_marks: Marks = ()
    count: int = 0


def side_by_side(
    difference: Diff, table: LineTable, *, context: int | None = CONTEXT, words: bool = True
) -> list[Row]:
    """Lay out a difference in two columns.

    ``context`` is how many equal lines stay around a change; None shows all.
    """
    rows: list[Row] = []
    left = right = 0
    marked = words and difference.added + difference.removed <= MOST_MARKED
    for at, hunk in enumerate(slide_hunks(difference, table)):
        rows += _equal(left, right, hunk[0] - left, context, (at == 0, False))
        rows += _changed(difference, table, hunk, marked)
        left, right = hunk[1], hunk[3]
    rest = len(difference.before) - left
    return rows + _equal(left, right, rest, context, (not difference.hunks, True))


def _equal(
    left: int, right: int, count: int, context: int | None, ends: tuple[bool, bool]
) -> list[Row]:
    """Show equal lines, from two places on (counted from 0); at an end of the text there is no
    change on that side."""
    head = 0 if ends[0] else context or 0
    tail = 0 if ends[1] else context or 0
    if context is None or count <= head + tail + 1:
        return [Row("same", left + at, right + at) for at in range(1, count + 1)]
    folded = count - head - tail
    shown = [*range(1, head + 1), *range(count - tail + 1, count + 1)]
    rows = [Row("same", left + at, right + at) for at in shown]
    rows.insert(head, Row("fold", left + head + 1, right + head + 1, count=folded))
    return rows


def _changed(difference: Diff, table: LineTable, hunk: Hunk, marked: bool) -> Iterator[Row]:
    old = table.text(difference.before[hunk[0] : hunk[1]])
    new = table.text(difference.after[hunk[2] : hunk[3]])
    i = j = 0
    for pair in [*pair_lines(old, new), (len(old), len(new))]:
        yield from (Row("removed", left=hunk[0] + at + 1) for at in range(i, pair[0]))
        yield from (Row("added", right=hunk[2] + at + 1) for at in range(j, pair[1]))
        i, j = pair[0] + 1, pair[1] + 1
        if pair[0] < len(old):
            marks = changed_words(old[pair[0]], new[pair[1]]) if marked else ((), ())
            yield Row("changed", hunk[0] + i, hunk[2] + j, *marks)


def inline(rows: Iterable[Row]) -> list[Row]:
    """Lay out the rows of two columns in one: what was removed stands above what was added."""
    made: list[Row] = []
    waiting: list[Row] = []
    for row in rows:
        if row.kind in ("same", "fold"):
            made += waiting
            waiting = []
            made.append(row)
        elif row.kind == "added":
            waiting.append(row)
        else:
            made.append(Row("removed", row.left, left_marks=row.left_marks))
            if row.kind == "changed":
                waiting.append(Row("added", right=row.right, right_marks=row.right_marks))
    return made + waiting


def unfolded(row: Row) -> list[Row]:
    """List the rows that a fold stands for."""
    return [Row("same", row.left + at, row.right + at) for at in range(row.count)]
