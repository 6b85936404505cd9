"""A difference as rows, in two columns or one, with unchanged parts folded."""

from collections import Counter
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
SHORTEST_MOVED = 8
"""Shorter lines, such as a bracket or ``else:``, occur everywhere and are not said to move."""
MOST_MARKED = 5_000
"""Limit of changed lines whose words are marked; in a larger difference nobody reads them."""


class Row(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A row: its lines on the left and right, counted from 1, 0 for none, and their marked tokens.

    ``moved`` if the line is removed here and added elsewhere, or the other way round.
    A ``fold`` stands for ``count`` rows of equal lines that begin at ``left`` and ``right``.
    """

    kind: RowKind
    left: int = 0
    right: int = 0
    left_marks: Marks = ()
    right_marks: Marks = ()
    count: int = 0
    moved: bool = False


def side_by_side(difference: Diff, table: LineTable, *, context: int | None = CONTEXT) -> list[Row]:
    """Lay out a difference in two columns.

    ``context`` is the number of equal lines shown around a change; None shows all.
    """
    rows: list[Row] = []
    left = right = 0
    with_marks = difference.added + difference.removed <= MOST_MARKED
    for at, hunk in enumerate(slide_hunks(difference, table)):
        rows += _equal_rows(left, right, hunk[0] - left, context, (at == 0, False))
        rows += _changed_rows(difference, table, hunk, with_marks)
        left, right = hunk[1], hunk[3]
    rows = _with_moves(rows, difference, table)
    rest = len(difference.before) - left
    return rows + _equal_rows(left, right, rest, context, (not difference.hunks, True))


def _with_moves(rows: list[Row], difference: Diff, table: LineTable) -> list[Row]:
    """Mark the lines that are removed in one place and added in another, indented or not."""
    gone, come = Counter[str](), Counter[str]()
    texts: dict[int, str] = {}
    for at, row in enumerate(rows):
        if row.kind in ("removed", "added"):
            side = difference.before if row.kind == "removed" else difference.after
            number = int(side[(row.left or row.right) - 1])
            texts[at] = table.lines[number].strip()
            (gone if row.kind == "removed" else come)[texts[at]] += 1
    both = gone & come
    left = {"removed": both, "added": both.copy()}
    for at, text in texts.items():
        known = left[rows[at].kind]
        if len(text) >= SHORTEST_MOVED and known[text]:
            known[text] -= 1
            rows[at] = msgspec.structs.replace(rows[at], moved=True)
    return rows


def _equal_rows(
    left: int, right: int, count: int, context: int | None, ends: tuple[bool, bool]
) -> list[Row]:
    """List rows of equal lines from two places on, counted from 0, folded in the middle.

    ``ends`` tells whether the lines are at the start and at the end of the text, where there is no
    change to give context for.
    """
    head = 0 if ends[0] else context or 0
    tail = 0 if ends[1] else context or 0
    if context is None or count <= head + tail + 1:
        return [Row("same", left + at, right + at) for at in range(1, count + 1)]
    folded = count - head - tail
    shown = [*range(1, head + 1), *range(count - tail + 1, count + 1)]
    rows = [Row("same", left + at, right + at) for at in shown]
    rows.insert(head, Row("fold", left + head + 1, right + head + 1, count=folded))
    return rows


def _changed_rows(
    difference: Diff, table: LineTable, hunk: Hunk, with_marks: bool
) -> Iterator[Row]:
    ids = difference.before[hunk[0] : hunk[1]], difference.after[hunk[2] : hunk[3]]
    old, new = map(table.text, ids)
    lexer = table.lexer(int(ids[0][0] if len(old) else ids[1][0]))
    i = j = 0
    for pair in [*pair_lines(old, new, lexer), (len(old), len(new))]:
        yield from (Row("removed", left=hunk[0] + at + 1) for at in range(i, pair[0]))
        yield from (Row("added", right=hunk[2] + at + 1) for at in range(j, pair[1]))
        i, j = pair[0] + 1, pair[1] + 1
        if pair[0] < len(old):
            lexers = table.lexer(int(ids[0][pair[0]])), table.lexer(int(ids[1][pair[1]]))
            words = old[pair[0]], new[pair[1]]
            marks = changed_words(*words, lexers) if with_marks else ((), ())
            yield Row("changed", hunk[0] + i, hunk[2] + j, *marks)


def inline(rows: Iterable[Row]) -> list[Row]:
    """Lay out the rows of two columns in one, removed lines above added ones."""
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
            made.append(Row("removed", row.left, left_marks=row.left_marks, moved=row.moved))
            if row.kind == "changed":
                waiting.append(Row("added", right=row.right, right_marks=row.right_marks))
    return made + waiting
