"""Lines as HTML: escaped, coloured by the kind of each token, and made once per distinct line.

The CSS classes are those of ``token_class``; tokens that changed are inside ``<mark>``.
"""

from irkit.inspector_web.text.lines import Ids, LineTable

Marks = tuple[tuple[int, int], ...]
"""Half-open ranges of the tokens of a line, counted from 0."""

LONGEST = 10_000
"""Limit of a shown line; a longer one is cut and ends with the number of missing characters."""


class Highlighter:
    """Highlighter of the lines of a table, which keeps the HTML of each line."""

    def __init__(self, table: LineTable) -> None:
        self.table = table
        self._lines: list[str | None] = []

    def lines(self, ids: Ids) -> list[str]:
        """Return the HTML of lines given by number."""
        made = self._lines
        if len(made) < len(self.table):
            made.extend([None] * (len(self.table) - len(made)))
        found: list[str] = []
        numbers: list[int] = ids.tolist()
        for at in numbers:
            line = made[at]
            if line is None:
                line = made[at] = self.table.lexer(at).line(cut_line(self.table.lines[at]))
            found.append(line)
        return found

    def line(self, number: int, marks: Marks = ()) -> str:
        """Return the HTML of one line, with some of its tokens marked."""
        lexer = self.table.lexer(number)
        pieces = [lexer.html(token) for token in lexer.cut(cut_line(self.table.lines[number]))]
        for begin, end in marks:
            if begin < min(end, len(pieces)):
                pieces[begin] = f"<mark>{pieces[begin]}"
                pieces[min(end, len(pieces)) - 1] += "</mark>"
        return "".join(pieces)


class SentLines:
    """Coloured lines that are sent to the page, each once; texts refer to them by number."""

    def __init__(self, colours: Highlighter) -> None:
        self.colours = colours
        self.html: list[str] = []
        self._known: dict[str, int] = {}

    def text(self, ids: Ids) -> list[int]:
        """Add the lines of a text; return their numbers, each as the difference from the last."""
        numbers = [self._number(line) for line in self.colours.lines(ids)]
        return [now - before for before, now in zip([0, *numbers], numbers, strict=False)]

    def marked(self, ids: Ids, line: int, marks: Marks) -> int:
        """Add a line of a text, counted from 1, with some of its tokens marked."""
        return self._number(self.colours.line(int(ids[line - 1]), marks))

    def _number(self, html: str) -> int:
        at = self._known.get(html)
        if at is None:
            at = self._known[html] = len(self.html)
            self.html.append(html)
        return at


def cut_line(line: str) -> str:
    """Cut a line that is too long to be shown."""
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}# and {len(line) - LONGEST} more"
