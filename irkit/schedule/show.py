"""Show IR text in colour, on a terminal and in a notebook."""

import sys

from pygments import highlight
from pygments.formatters import HtmlFormatter, TerminalFormatter
from pygments.lexers.python import PythonLexer

MOST_BYTES = 200_000


def highlighted(text: str) -> str:
    """Colour a text if the output is a terminal."""
    if not sys.stdout.isatty():
        return text
    return highlight(text, PythonLexer(), TerminalFormatter())


def page(text: str) -> str:
    """Colour a text as HTML that needs no style sheet, within 200 kB."""
    formatter: HtmlFormatter[str] = HtmlFormatter(noclasses=True, nobackground=True)
    made = highlight(text, PythonLexer(), formatter)
    if len(made) <= MOST_BYTES:
        return made
    most = max(1000, len(text) * MOST_BYTES // len(made) * 3 // 4)
    cut = text[:most].rsplit("\n", 1)[0]
    rest = text.count("\n") - cut.count("\n")
    return page(f"{cut}\n# and {rest} more lines\n")


def in_notebook(html: str) -> bool:
    """Show HTML if this runs in a notebook; say whether it did."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    if python is None or shell is None or "terminal" in type(shell).__module__:
        return False
    python.display.display(python.display.HTML(html))
    return True
