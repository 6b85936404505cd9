"""Print a program with the line of an error marked."""

from irkit.core import Node, annotate_source, any_node, walk
from irkit.ir import PrimFunc, Stmt, listing as printed, script

_WHOLE = 60
_AROUND = 8


def listing(func: PrimFunc, at: object, message: str) -> str:
    """Print a function, or the lines around ``at`` of a long one, and mark the line where ``at``
    begins."""
    line = _line_of(func, at) if isinstance(at, Node) else 0
    text = script(func)
    around = text.count("\n") if text.count("\n") <= _WHOLE else _AROUND
    if line:
        return annotate_source(text, [(line, message)], around)
    return text if around > _AROUND else ""


def _line_of(func: PrimFunc, at: Node) -> int:
    starts = printed(func).starts
    if id(at) in starts:
        return starts[id(at)]
    for stmt in reversed(
        list(walk(func, on=Stmt))
    ):  # In reverse, so that inner statements come first.
        if id(stmt) in starts and any_node(stmt, type(at)) and any(n is at for n in walk(stmt)):
            return starts[id(stmt)]
    return 0
