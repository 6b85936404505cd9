"""The origin of each printed line, back to the ONNX node or the tensor expression.

A line belongs to the statement that begins on it, or the last one that began before it. Its chain
is that of the statement's span, nearest first: schedule primitive, stage of a tensor expression,
ONNX node.
"""

from os.path import basename

import msgspec
import numpy as np

from irkit.core import Node, Span, walk
from irkit.graph import Bind
from irkit.inspector_web.text.lines import Ids
from irkit.inspector_web.text.texts import PrintedFunction, Texts
from irkit.ir import Assert, Evaluate, For, If, Let, Store
from irkit.transform import IR

LONGEST_CHAIN = 64
STATEMENTS = (Bind, For, Store, Evaluate, Let, If, Assert)
"""What begins the lines that do something: loops, stores, calls."""


class Link(msgspec.Struct, frozen=True, omit_defaults=True):
    """An origin: ``kind`` and ``name`` as in a span; ``file`` without its folder."""

    kind: str
    name: str = ""
    file: str = ""
    line: int = 0


Chain = tuple[Link, ...]


class Origins(msgspec.Struct, eq=False):
    """The chains of a text, and for each line the index of its chain, -1 if it has none.

    ``working`` marks the lines with loops, stores and calls.
    """

    chains: tuple[Chain, ...]
    lines: Ids
    working: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def of(self, line: int) -> Chain:
        """Return the chain of a line, by number from 1."""
        at = int(self.lines[line - 1])
        return self.chains[at] if at >= 0 else ()

    @property
    def share(self) -> float:
        """The share of working lines whose chain goes beyond schedule primitives."""
        numbers = self.lines[self.working]
        if not len(numbers):
            return 1.0
        known = np.array([*map(_has_source, self.chains), False])
        return float(known[numbers].mean())


def _has_source(chain: Chain) -> bool:
    return any(link.kind != "schedule" for link in chain)


def origins(texts: Texts, ir: IR) -> Origins:
    """Find the origins of every line of a function or module of a trace."""
    text = texts.of_ir(ir)
    numbers: dict[Chain, int] = {}
    chains: dict[int, int] = {}
    lines = np.full(len(text.ids), -1, dtype=np.int32)
    working = np.zeros(len(text.ids), dtype=np.bool_)
    for before, part in text.parts:
        owners = line_owners(part)
        for at, node in enumerate(owners):
            span: Span | None = getattr(node, "span", None)
            if span is not None:
                if id(span) not in chains:
                    chains[id(span)] = numbers.setdefault(_chain(span), len(numbers))
                lines[before + at] = chains[id(span)]
            begins = node is not None and (at == 0 or owners[at - 1] is not node)
            working[before + at] = begins and isinstance(node, STATEMENTS)
    return Origins(tuple(numbers), lines, working)


def line_owners(part: PrintedFunction) -> list[Node | None]:
    """Return the node that each line of a function belongs to.

    If several nodes begin on a line, it is the innermost one with a span.
    """
    nodes = {id(node): node for node in _printed_nodes(part)}
    first: dict[int, Node] = {}
    starts = part.starts
    for key, line in starts.items():
        node = nodes.get(key)
        if node is not None and (line not in first or getattr(node, "span", None) is not None):
            first[line] = node
    owners: list[Node | None] = []
    owner: Node | None = part.func if starts else None
    for line in range(1, len(part.ids) + 1):
        owner = first.get(line, owner)
        owners.append(owner)
    return owners


def _printed_nodes(part: PrintedFunction) -> list[Node]:
    return list(walk(part.func))


def _chain(span: Span) -> Chain:
    found: list[Link] = []
    at: Span | None = span
    while at is not None and len(found) < LONGEST_CHAIN:
        link = Link(at.kind, at.name, basename(at.file), at.line)
        if not found or found[-1] != link:
            found.append(link)
        at = at.parent
    return tuple(found)
