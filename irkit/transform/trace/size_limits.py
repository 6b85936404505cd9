"""Limits of trace files, and of the functions and values in one, written out.

A row can occur in many others, so a file of forty rows can hold a function of 2**40 statements,
which nobody can print. Expressions are exempt: everything that walks them visits each once.
"""

from collections.abc import Iterable, Iterator
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


class NodeSizes:
    """How large nodes are, written out, and how deep expressions are nested, as they are read."""

    def __init__(self, count: int) -> None:
        self._levels: dict[int, int] = {}
        self._limit = _BASE_SIZE + _SIZE_PER_ROW * count
        self._sizes: dict[int, int] = {}
        self._places: dict[type[Node], list[int]] = {}
        self._operands: dict[type[Node], list[int]] = {}

    def add(self, at: int, row: list[Any], node: Node) -> str:
        """Measure a node by its row; return what is wrong with it, or an empty text."""
        cls = type(node)
        if cls not in self._places:
            self._places[cls], self._operands[cls] = _places(cls), _operands(cls)
        if cls.expression:
            operands = self._operands[cls]
            if not operands:
                return ""  # Those that are not listed have the level 1.
            level = 1
            levels = self._levels
            for place in operands:
                item = row[place]
                for other in item if item.__class__ is list else (item,):
                    if levels.get(other, 1) >= level:
                        level = 1 + levels.get(other, 1)
            self._levels[at] = level
            deep = f"expressions are nested more than {MAX_LEVELS} deep"
            return deep if level > MAX_LEVELS else ""
        size = 1
        for place in self._places[cls]:
            for other in _numbers(row[place]):
                size += self._sizes.get(other, 1)
        self._sizes[at] = min(size, _SIZE_CAP)
        if size > self._limit and isinstance(node, Function):
            return f"written out, this function has {size} nodes or more: too many to show"
        return ""


class ValueSizes:
    """How large values are, written out, and how deep tuples are nested, as they are read."""

    def __init__(self, count: int) -> None:
        self._limit = _BASE_SIZE + _SIZE_PER_ROW * count
        self._sizes: dict[int, int] = {}
        self._depths: dict[int, int] = {}

    def add(self, at: int, row: list[Any]) -> str:
        """Measure a value by its row; return what is wrong with it, or an empty text."""
        if (
            row
            and row[0] == ValueTag.STRUCT
            and len(row) <= self._limit
            and list not in map(type, row)
        ):
            self._sizes[at] = len(row)
            return ""
        # Whatever else is there is refused when the value is made.
        inside = [each for each in ValueSizes.held(row) if each.__class__ is int]
        if not inside and len(row) <= self._limit and row[:1] != [ValueTag.TUPLE]:
            self._sizes[at] = len(row)
            return ""
        sizes = (self._sizes.get(other, 1) for other in inside)
        self._sizes[at] = min(_SIZE_CAP, len(row) + sum(sizes))
        if row[:1] == [ValueTag.TUPLE]:
            self._depths[at] = 1 + max((self._depths.get(other, 0) for other in inside), default=0)
        if self._sizes[at] > self._limit:
            return f"written out, this value has {self._sizes[at]} parts or more"
        if self._depths.get(at, 0) > _MAX_DEPTH:
            return f"tuples are nested more than {_MAX_DEPTH} deep"
        return ""

    @staticmethod
    def held(row: list[Any]) -> Iterator[Any]:
        """Return the numbers of the values that a value consists of."""
        if not row or row[0] != ValueTag.CODED:
            for item in row:
                if item.__class__ is list:
                    yield from item


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
