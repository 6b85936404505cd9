"""The documentation and source of a pass, and the file that it is in.

Those of a pass that a script defines are recorded with its runs: the page does not import scripts.
"""

import inspect

import msgspec

from irkit.inspector_web.limits import MOST_SOURCE
from irkit.transform import AnyPass


class PassSource(msgspec.Struct, frozen=True):
    """Where a pass is written: its module, the path of its file, the line from 1, and the text.

    The page gets the path only when somebody asks to open the file in an editor.
    """

    name: str
    doc: str
    module: str
    file: str
    line: int
    text: str


def source_of(p: AnyPass) -> PassSource:
    """Return the documentation and source of a pass; the source is empty if it is not in a file."""
    function = inspect.unwrap(p.function)
    module = p.function.__module__
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or ""
    except (OSError, TypeError):
        return PassSource(p.name, p.doc, module, "", 0, "")
    return PassSource(p.name, p.doc, module, file, first, "".join(lines)[:MOST_SOURCE])
