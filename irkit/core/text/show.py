"""Show IR text in colour, on a terminal and in a notebook."""

import sys
from collections.abc import Callable
from typing import Any


def show_text(text: str, html: Callable[[], str]) -> None:
    """Show HTML in a notebook; elsewhere print the text, in colour on a terminal."""
    display = _notebook_display()
    if display is None:
        print(_highlighted(text))  # noqa: T201 -- what the function is for
    else:
        display.display(display.HTML(html()))


def _highlighted(text: str) -> str:
    """Return a text with colours if the output is a terminal."""
    if not sys.stdout.isatty():
        return text
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers.python import PythonLexer

    return highlight(text, PythonLexer(), TerminalFormatter())


def _notebook_display() -> Any | None:
    """Return the module that shows HTML, if this runs in a notebook."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    if python is None or shell is None or "terminal" in type(shell).__module__:
        return None
    return python.display
