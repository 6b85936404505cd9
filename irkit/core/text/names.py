"""Printed names: one table per trace, so an unchanged variable keeps its name from step to step.

Names in the IR are for people: they can repeat, and need not be Python identifiers (ONNX has
``conv/1:0``). Printed names must differ: a clash gets a suffix. A name that is reserved or is not
an identifier is mangled, and the original stands quoted beside it.
"""

import keyword
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from irkit.core.node import Node

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}\Z")
_RESERVED = re.compile(r"_*\d*\Z|(?:bool|(?:bf|f|i|u)\d{1,2})(?:x\d{1,5})?\Z")
_FOREIGN = re.compile(r"[^A-Za-z0-9_]")
ALIAS = re.compile(r"_\d+\Z")
"""The names of lines that hold a part of an expression too deep for one line."""


@lru_cache(maxsize=1 << 12)
def is_printable(name: str) -> bool:
    """Return True if a name can stand in the text as it is."""
    return (
        _IDENTIFIER.match(name) is not None
        and not keyword.iskeyword(name)
        and _RESERVED.match(name) is None
    )


def mangled(name: str) -> str:
    """Return a printable name that resembles ``name``."""
    if is_printable(name):
        return name
    changed = _FOREIGN.sub("_", name)[:48]
    if not changed.strip("_0123456789") or changed[0].isdigit():
        changed = f"v_{changed}"
    return changed if is_printable(changed) else f"{changed}_"


class Names:
    """Table of the names under which variables and buffers were printed.

    It holds the symbols themselves and lives as long as its trace. ``memo`` is for printers that
    print the same nodes again; None if that is not worthwhile.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Node, str]] = {}
        self.memo: dict[Any, Any] | None = None

    def copied(self) -> "Names":
        """Return a copy, so that printing with it leaves this table unchanged."""
        made = Names()
        made._known = dict(self._known)
        made.memo = self.memo
        return made

    def put_back(self, key: int, entry: tuple[Node, str]) -> None:
        """Restore the name that the symbol with an ``id`` had before."""
        self._known[key] = entry

    def choose(self, symbols: Iterable[Node]) -> "PrintedNames":
        """Name the symbols of one function, in order; a known symbol keeps its name if it is
        free."""
        printed = PrintedNames(self._known)
        wanted = list(symbols)
        if self._all_known(wanted, printed):
            return printed
        fresh = list[Node]()
        for symbol in wanted:
            known = self._known.get(id(symbol))
            if id(symbol) in printed:
                continue
            if known is not None and known[1] not in printed.taken:
                printed.taken.add(known[1])
                printed[id(symbol)] = known[1]
            else:
                fresh.append(symbol)
        printed.steady = not fresh
        for symbol in fresh:
            printed.add(symbol)
        return printed

    def _all_known(self, symbols: list[Node], printed: "PrintedNames") -> bool:
        """Use the names of the table if every symbol has one of its own.

        This is the usual case, and fast for functions with many thousands of symbols.
        """
        keys = list(map(id, symbols))
        entries = list(map(self._known.get, keys))
        if not all(entries):
            return False
        names = [entry[1] for entry in entries if entry is not None]
        taken = set(names)
        if len(taken) != len(set(keys)):
            return False
        printed.update(zip(keys, names, strict=True))
        printed.taken, printed.steady = taken, True
        return True


class PrintedNames(dict[int, str]):
    """Printed names of the symbols of one function, by ``id``.

    ``steady`` is True if all were known and kept their names; ``moved`` has the previous table
    entries of those that did not.
    """

    def __init__(self, known: dict[int, tuple[Node, str]]) -> None:
        super().__init__()
        self.taken: set[str] = set()
        self.steady = False
        self.moved: dict[int, tuple[Node, str]] = {}
        self._known = known
        self._next: dict[str, int] = {}

    def add(self, symbol: Node) -> str:
        """Choose a name that no other symbol has; this includes symbols not bound in the text."""
        name = self.get(id(symbol))
        if name is None:
            key = id(symbol)
            name = self._free(mangled(getattr(symbol, "name")))
            self.taken.add(name)
            self[key] = name
            known = self._known.get(key)
            if known is not None:
                self.moved[key] = known
            self._known[key] = (symbol, name)
        return name

    def _free(self, wanted: str) -> str:
        if wanted not in self.taken:
            return wanted
        number = self._next.get(wanted, 1)
        while f"{wanted}_{number}" in self.taken:
            number += 1
        self._next[wanted] = number + 1
        return f"{wanted}_{number}"


class UniqueNames:
    """Source of unique names: a name that is taken gets a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def __call__(self, wanted: str) -> str:
        name, number = wanted, self._next.get(wanted, 1)
        while name in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        self._next[wanted] = number
        self._taken.add(name)
        return name
