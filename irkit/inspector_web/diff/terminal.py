"""Differences for a terminal: one column, with changes marked by sign as well as by colour."""

from collections.abc import Iterator

from rich.text import Text

from irkit.inspector_web.diff.line_diff import Diff
from irkit.inspector_web.diff.rows import Row, inline, side_by_side
from irkit.inspector_web.text.highlight import Marks, cut_line
from irkit.inspector_web.text.lexers import Lexer
from irkit.inspector_web.text.lines import LineTable

_SIGNS = {"removed": "-", "added": "+", "same": " "}
_COLOURS = {"removed": "red", "added": "green", "same": ""}
_MARK_STYLES = {
    "removed": "bold white on dark_red",
    "added": "bold white on dark_green",
    "same": "",
}


def printed_diff(difference: Diff, table: LineTable, context: int) -> Iterator[Text]:
    """Yield a difference line by line; nothing if the texts are equal."""
    if not difference.hunks:
        return
    for row in inline(side_by_side(difference, table, context=context)):
        if row.kind == "fold":
            text = (
                f"@@ {row.count} equal lines, {row.left} on the left, {row.right} on the right @@"
            )
            yield Text(text, style="cyan")
        else:
            yield _line(row, difference, table)


def _line(row: Row, difference: Diff, table: LineTable) -> Text:
    ids, at = (difference.before, row.left) if row.left else (difference.after, row.right)
    text = cut_line(table.lines[int(ids[at - 1])])
    made = Text(f"{_SIGNS[row.kind]} ", style=_COLOURS[row.kind])
    made.append(_printable(text))
    lexer = table.lexer(int(ids[at - 1]))
    for begin, end in _spans(text, row.left_marks if row.left else row.right_marks, lexer):
        made.stylize(_MARK_STYLES[row.kind], begin + 2, end + 2)
    return made


def _spans(text: str, marks: Marks, lexer: Lexer) -> list[tuple[int, int]]:
    """Convert ranges of tokens to ranges of characters."""
    starts = [0]
    for token in lexer.cut(text):
        starts.append(starts[-1] + len(token))
    last = len(starts) - 1
    return [(starts[min(begin, last)], starts[min(end, last)]) for begin, end in marks]


def _printable(text: str) -> str:
    """Replace control characters, which could steer the terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
