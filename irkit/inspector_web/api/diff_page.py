"""The difference of two stages as rows, with the coloured lines that the page shows first."""

from collections.abc import Callable
from functools import partial

import msgspec

from irkit.inspector_web.diff.rows import Row, side_by_side
from irkit.inspector_web.limits import MOST_SENT
from irkit.inspector_web.runs.run import RunStage
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.text.highlight import Marks

AROUND = 3
"""Equal lines around a change that are sent with a difference."""
ALONE = 500
"""Lines of a text without any change that are sent: the page shows them at once."""


PageRow = tuple[str, int, int, int, int]
"""A row. ``=`` is a run of equal lines: left, right, count, 0. ``~`` is a changed line, ``-`` a
removed and ``+`` an added one, ``<`` and ``>`` if it only moved: left, right, and the indices of
their marked HTML, -1 if none."""

CODES = {"changed": "~", "removed": "-", "added": "+"}
MOVED = {"removed": "<", "added": ">"}


class DiffPage(msgspec.Struct):
    """A difference of two stages.

    ``html`` has coloured lines. ``left_lines`` and ``right_lines`` map line numbers, from 1, to
    indices into it, for the lines that are sent.
    """

    left: int
    right: int
    added: int
    removed: int
    changes: int
    exact: bool
    rows: list[PageRow]
    html: list[str]
    left_lines: dict[int, int]
    right_lines: dict[int, int]


def page_rows(
    workspace: Workspace, left: RunStage, right: RunStage, up_to_names: bool
) -> list[Row]:
    """Lay out a difference, with each run of equal lines as one row."""
    found = workspace.diff(left, right, up_to_names=up_to_names)
    return side_by_side(found, workspace.table, context=0)


Mark = Callable[[int, Marks], int]
"""Adds a line of one side, by number from 1, with marks to the HTML, and returns its index."""


def page_row(row: Row, left: Mark | None, right: Mark | None) -> PageRow:
    """Convert a row to the form that the page reads."""
    if row.kind in ("same", "fold"):
        return "=", row.left, row.right, row.count or 1, 0
    gone = left(row.left, row.left_marks) if left is not None and row.left_marks else -1
    come = right(row.right, row.right_marks) if right is not None and row.right_marks else -1
    code = MOVED[row.kind] if row.moved else CODES[row.kind]
    return code, row.left, row.right, gone, come


class _SentLines:
    """The coloured lines that are sent with a difference."""

    def __init__(self, workspace: Workspace, left: RunStage, right: RunStage) -> None:
        self.colours = workspace.colours
        self.ids = left.ids, right.ids
        self.html: list[str] = []
        self.lines: tuple[dict[int, int], dict[int, int]] = {}, {}
        self._numbers: dict[int, int] = {}

    def line(self, side: int, at: int) -> None:
        """Add a line of one side, by number from 1."""
        number = int(self.ids[side][at - 1])
        if number not in self._numbers:
            self._numbers[number] = self._add(self.colours.line(number))
        self.lines[side][at] = self._numbers[number]

    def marked(self, side: int, at: int, marks: Marks) -> int:
        """Add a line with marks and return the index of its HTML."""
        return self._add(self.colours.line(int(self.ids[side][at - 1]), marks))

    def _add(self, line: str) -> int:
        self.html.append(line)
        return len(self.html) - 1


def diff_page(
    workspace: Workspace, left: RunStage, right: RunStage, *, up_to_names: bool = False
) -> DiffPage:
    """Compare two stages."""
    found = workspace.diff(left, right, up_to_names=up_to_names)
    sent = _SentLines(workspace, left, right)
    rows: list[PageRow] = []
    changed = 0
    for row in page_rows(workspace, left, right, up_to_names):
        if row.kind in ("same", "fold"):
            rows.append(page_row(row, None, None))
            _send_around(sent, row, row.count or 1, AROUND if found.hunks else ALONE)
            continue
        changed += 1
        rows.append(page_row(row, partial(sent.marked, 0), partial(sent.marked, 1)))
        if changed <= MOST_SENT:
            _send_changed(sent, row)
    return DiffPage(
        left=len(found.before),
        right=len(found.after),
        added=found.added,
        removed=found.removed,
        changes=len(found.hunks),
        exact=found.exact,
        rows=rows,
        html=sent.html,
        left_lines=sent.lines[0],
        right_lines=sent.lines[1],
    )


def _send_changed(sent: _SentLines, row: Row) -> None:
    if row.left and not row.left_marks:
        sent.line(0, row.left)
    if row.right and not row.right_marks:
        sent.line(1, row.right)


def _send_around(sent: _SentLines, row: Row, count: int, most: int) -> None:
    near = {*range(min(most + 1, count)), *range(max(0, count - AROUND - 1), count)}
    for ahead in sorted(near):
        sent.line(0, row.left + ahead)
        sent.line(1, row.right + ahead)


def coloured_lines(workspace: Workspace, stage: RunStage, begin: int, end: int) -> list[str]:
    """Colour lines ``begin`` to ``end``, counted from 1, ``end`` included."""
    return workspace.colours.lines(stage.ids[max(0, begin - 1) : end])
