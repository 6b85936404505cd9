"""Hold that functions and values in a trace file are about as large as they look.

A row may stand below many others, and so a file of forty rows can hold a function of 2**40
statements, which nobody can print. Expressions may share: whatever walks them sees each once.
"""

from collections.abc import Iterable
from typing import Any, cast

from irkit.core import Function, Node, fields
from irkit.transform.trace.file import Form

_ALWAYS = 1 << 20
_BEYOND_ROWS = 4
_MANY = 1 << 62
_DEEPEST = 64
"""Tuples inside each other; Python's own ``repr`` and ``==`` recurse."""


def too_large(rows: list[list[Any]], nodes: list[Node]) -> tuple[int, int] | None:
    """Find a function that is much larger, written out, than all of its file; give the number of
    its row, and how many nodes it has (as far as they were counted).

    ``rows`` are what ``nodes`` were read from, so each refers to earlier ones only.
    """
    most = _ALWAYS + _BEYOND_ROWS * len(rows)
    held: dict[type[Node], list[int]] = {}
    sizes: list[int] = []
    for at, (row, node) in enumerate(zip(rows, nodes, strict=True)):
        cls = type(node)
        if cls not in held:
            held[cls] = _places(cls)
        size = 1 + sum(sizes[other] for place in held[cls] for other in _numbers(row[place]))
        sizes.append(min(size, _MANY))
        if size > most and isinstance(node, Function):
            return at, size
    return None


def unwieldy(rows: list[list[Any]]) -> tuple[int, str] | None:
    """Find a value that is immense written out, or nested beyond use; say which row, and why."""
    most = _ALWAYS + _BEYOND_ROWS * len(rows)
    sizes: list[int] = []
    depths: list[int] = []
    for at, row in enumerate(rows):
        inside = [cast(list[int], item)[0] for item in row if isinstance(item, list)]
        if row[:1] == [Form.CODED]:
            inside = []
        sizes.append(min(_MANY, len(row) + sum(sizes[other] for other in inside)))
        deeper = row[:1] == [Form.TUPLE]
        depths.append(1 + max((depths[other] for other in inside), default=0) if deeper else 0)
        if sizes[at] > most:
            return at, f"written out, this value has {sizes[at]} parts or more"
        if depths[at] > _DEEPEST:
            return at, f"tuples are nested more than {_DEEPEST} deep"
    return None


def _places(cls: type[Node]) -> list[int]:
    """List which items of a row hold nodes; for an expression none count."""
    # Only expressions are left out of garbage collection.
    if not cls.__struct_config__.gc:
        return []
    return [at for at, field in enumerate(fields(cls), 1) if field.kind != "data"]


def _numbers(item: object) -> Iterable[int]:
    if isinstance(item, list):
        return cast(list[int], item)
    return () if item is None else (cast(int, item),)
