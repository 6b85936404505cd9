"""Lines as HTML: coloured by the kind of each token, escaped, and made once for each distinct line.

The classes are those of ``token_class``; marks are ``<mark>`` around tokens that changed.
"""

from irkit.core import TokenHtml, tokens
from irkit.inspector_web.text.lines import Ids, LineTable

Marks = tuple[tuple[int, int], ...]
"""Ranges of tokens of a line, counted from 0, each without its end."""

LONGEST = 10_000
"""Characters of a line that are shown; a line of more ends with how many are left out."""


class Highlighter:
    """Colour the lines of a table."""

    def __init__(self, table: LineTable) -> None:
        self.table = table
        self._tokens = TokenHtml()
        self._lines: list[str | None] = []

    def lines(self, ids: Ids) -> list[str]:
        """Colour lines given by number."""
        made = self._lines
        if len(made) < len(self.table):
            made.extend([None] * (len(self.table) - len(made)))
        found: list[str] = []
        numbers: list[int] = ids.tolist()
        for at in numbers:
            line = made[at]
            if line is None:
                line = made[at] = self._tokens.line(shown(self.table.lines[at]))
            found.append(line)
        return found

    def line(self, number: int, marks: Marks = ()) -> str:
        """Colour one line, with some of its tokens marked."""
        pieces = [self._tokens[token] for token in tokens(shown(self.table.lines[number]))]
        for begin, end in marks:
            if begin < min(end, len(pieces)):
                pieces[begin] = f"<mark>{pieces[begin]}"
                pieces[min(end, len(pieces)) - 1] += "</mark>"
        return "".join(pieces)


def shown(line: str) -> str:
    """Cut a line that is too long to be read."""
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}# and {len(line) - LONGEST} more"
