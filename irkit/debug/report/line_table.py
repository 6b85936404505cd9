"""The line of printed IR that a node is on."""

from collections.abc import Iterator

from irkit.core import Function, Level, Node, binders, walk


class NodeLines:
    """Line numbers of the nodes in the printed text of one function.

    A node that is not in the text, because a rewrite made it on the way, is found by what it
    introduces (a loop by its variable), then by its span. An expression has the line of the
    statement around it.
    """

    def __init__(self, level: Level, func: Function) -> None:
        self.starts: dict[int, int] = {} if level.listing is None else level.listing(func).starts
        self.others: dict[int, int] = {}
        line = 0
        for node in walk(func):
            line = self.starts.get(id(node), line)
            for key in (id(node), *_traces(node)):
                self.others.setdefault(key, line)
        self._kept = func  # An id is valid only while its object lives.

    def of(self, node: Node) -> int:
        """Return the line of a node, from 1, or 0 if it is unknown."""
        if id(node) in self.starts:
            return self.starts[id(node)]
        for key in (id(node), *_traces(node)):
            if self.others.get(key):
                return self.others[key]
        return 0


def _traces(node: Node) -> Iterator[int]:
    for symbol in binders(node):
        yield id(symbol)
    span = getattr(node, "span", None)
    if span is not None:
        yield id(span)
