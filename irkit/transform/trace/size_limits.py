"""Limits of trace files, and of the functions and values in one, written out.

A row can occur in many others, so a file of forty rows can hold a function of 2**40 statements,
which nobody can print. Expressions are exempt: everything that walks them visits each once.
"""

from collections.abc import Iterable
from typing import Any, cast

from irkit.core import MAX_LEVELS, Function, Node, fields
from irkit.transform.trace.file import ValueTag

MAX_FILE_BYTES = 1 << 28
MAX_HEX_DIGITS = 1 << 12  # Of one integer: reading more takes time that grows with the square.
_BASE_SIZE = 1 << 20
_SIZE_PER_ROW = 4
_SIZE_CAP = 1 << 62
_MAX_DEPTH = 64
"""The deepest nesting of tuples: Python's own ``repr`` and ``==`` recurse."""


def oversized_function(rows: list[list[Any]], nodes: list[Node]) -> tuple[int, int] | None:
    """Find a function that, written out, is much larger than its whole file.

    Returns the number of its row and its size in nodes (as far as they were counted). ``rows`` are
    what ``nodes`` were read from, so each refers to earlier ones only.
    """
    limit = _BASE_SIZE + _SIZE_PER_ROW * len(rows)
    held: dict[type[Node], list[int]] = {}
    sizes: list[int] = []
    for at, (row, node) in enumerate(zip(rows, nodes, strict=True)):
        cls = type(node)
        if cls not in held:
            held[cls] = _places(cls)
        size = 1 + sum(sizes[other] for place in held[cls] for other in _numbers(row[place]))
        sizes.append(min(size, _SIZE_CAP))
        if size > limit and isinstance(node, Function):
            return at, size
    return None


def deep_expression(rows: list[list[Any]], nodes: list[Node]) -> int | None:
    """Find an expression that is nested deeper than may be freed; return its row."""
    held: dict[type[Node], list[int]] = {}
    levels: list[int] = []
    for at, (row, node) in enumerate(zip(rows, nodes, strict=True)):
        cls = type(node)
        if cls not in held:
            held[cls] = _operands(cls)
        below = [levels[other] for place in held[cls] for other in _numbers(row[place])]
        levels.append(1 + max(below, default=0))
        if levels[at] > MAX_LEVELS:
            return at
    return None


def oversized_value(rows: list[list[Any]]) -> tuple[int, str] | None:
    """Find a value that is immense written out, or nested too deeply; return its row and the
    reason."""
    limit = _BASE_SIZE + _SIZE_PER_ROW * len(rows)
    sizes: list[int] = []
    depths: list[int] = []
    for at, row in enumerate(rows):
        inside = [cast(list[int], item)[0] for item in row if isinstance(item, list)]
        if row[:1] == [ValueTag.CODED]:
            inside = []
        sizes.append(min(_SIZE_CAP, len(row) + sum(sizes[other] for other in inside)))
        deeper = row[:1] == [ValueTag.TUPLE]
        depths.append(1 + max((depths[other] for other in inside), default=0) if deeper else 0)
        if sizes[at] > limit:
            return at, f"written out, this value has {sizes[at]} parts or more"
        if depths[at] > _MAX_DEPTH:
            return at, f"tuples are nested more than {_MAX_DEPTH} deep"
    return None


def _places(cls: type[Node]) -> list[int]:
    """List which items of a row hold nodes; empty for expressions."""
    if cls.expression:
        return []
    return [at for at, field in enumerate(fields(cls), 1) if field.kind != "data"]


def _operands(cls: type[Node]) -> list[int]:
    """List which items of a row of an expression hold expressions; empty for other nodes."""
    if not cls.expression:
        return []
    return [at for at, field in enumerate(fields(cls), 1) if field.kind == "child"]


def _numbers(item: object) -> Iterable[int]:
    if isinstance(item, list):
        return cast(list[int], item)
    return () if item is None else (cast(int, item),)
