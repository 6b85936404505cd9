"""Show IR text in colour, on a terminal and in a notebook."""

import sys


def highlighted(text: str) -> str:
    """Return a text with colours if the output is a terminal."""
    if not sys.stdout.isatty():
        return text
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers.python import PythonLexer

    return highlight(text, PythonLexer(), TerminalFormatter())


def in_notebook(html: str) -> bool:
    """Show HTML if this runs in a notebook; return True if it does."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    if python is None or shell is None or "terminal" in type(shell).__module__:
        return False
    python.display.display(python.display.HTML(html))
    return True
