"""Memory that the side after allocates anew where the side before keeps it.

What an earlier allocation left is then gone, so each load must be shown to read an element that was
written since: some store, in some iteration of the loops that have run, had the same indices.
"""

from collections.abc import Iterable
from typing import cast

import msgspec

from irkit.core import Node, children, substitute
from irkit.ir import I64, Binary, Buffer, Cast, Expr, Var, convert, eq, ge, logical_and, lt
from irkit.proof.functions.loads import PerformedLoad, as_index

Bound = tuple[Var, Expr, Expr]
"""A variable of a loop, and its limits."""
MOST_STORES = 64


class PastStore(msgspec.Struct, frozen=True, eq=False):
    """A store that has run for all values of some variables, where conditions held."""

    indices: tuple[Expr, ...]
    facts: tuple[Expr, ...]
    bounds: tuple[Bound, ...] = ()


class Lifetimes:
    """The stores to memory since it was allocated, by the buffer of the side before."""

    def __init__(self) -> None:
        self.stores: dict[Buffer, list[PastStore]] = {}
        self.loops: list[tuple[Bound, str]] = []
        """The loops around the statement, each with its kind."""
        self._depth: dict[Buffer, int] = {}

    def begin(self, buffer: Buffer) -> bool:
        """Begin a lifetime; False if the buffer stands for other memory that is still alive."""
        if buffer in self.stores:
            return False
        self.stores[buffer] = []
        self._depth[buffer] = len(self.loops)
        return True

    def end(self, buffer: Buffer) -> None:
        """End a lifetime."""
        del self.stores[buffer]

    def copy(self) -> dict[Buffer, list[PastStore]]:
        return {buffer: list(stores) for buffer, stores in self.stores.items()}

    def restore(self, stores: dict[Buffer, list[PastStore]]) -> None:
        """Go back to what ``copy`` has returned."""
        self.stores = {buffer: list(past) for buffer, past in stores.items()}

    def stored(self, buffer: Buffer, indices: Iterable[Expr], facts: Iterable[Expr]) -> None:
        """Note a store of one element."""
        found = self.stores.get(buffer)
        if found is not None and len(found) < MOST_STORES:
            found.append(PastStore(tuple(indices), tuple(facts)))

    def counts(self) -> dict[Buffer, int]:
        """Return the number of stores so far."""
        return {buffer: len(stores) for buffer, stores in self.stores.items()}

    def leave(self, loop: Bound, counts: dict[Buffer, int]) -> None:
        """Note that a loop has run: what it stored, it stored for all of its iterations."""
        var, begin, end = loop
        for buffer, stores in self.stores.items():
            for at in range(counts.get(buffer, 0), len(stores)):
                other = var.copy()
                made = _substituted(stores[at], {var: other})
                bounds = (*made.bounds, (other, begin, end))
                stores[at] = PastStore(made.indices, made.facts, bounds)

    def covering(self, load: PerformedLoad, facts: Iterable[Expr]) -> list[Expr] | None:
        """Return conditions of which one has to hold for a load to read what was stored; None if
        what it reads is not known to be new memory."""
        stores = self.stores.get(load.load.buffer)
        if stores is None:
            return None
        if load.load.dtype.lanes > 1:
            return []
        known = {id(fact) for fact in facts}
        around = [bound for bound, _ in self.loops[self._depth[load.load.buffer] :]]
        # Another iteration of a loop without an order need not have run.
        first: dict[Node, Node] = {
            var: convert(begin, var.dtype)
            for (var, begin, _), kind in self.loops[self._depth[load.load.buffer] :]
            if kind in ("serial", "unrolled")
        }
        found: list[Expr] = []
        for store in stores:
            for start in ({}, first) if first else ({},):
                made = _substituted(store, start) if start else store
                choices = (_by_form(made, load), _by_name(made, around))
                found += [_condition(made, choice, load, known) for choice in choices]
        return found


def _condition(
    store: PastStore, choice: dict[Node, Node], load: PerformedLoad, known: set[int]
) -> Expr:
    """Return that a store had the indices of a load, for one choice of its variables."""
    parts: list[Expr] = []
    for var, begin, end in store.bounds:
        chosen = cast(Expr, choice.setdefault(var, convert(begin, var.dtype)))
        low, high = (convert(substitute(x, choice), I64) for x in (begin, end))
        parts += [ge(convert(chosen, I64), low), lt(convert(chosen, I64), high)]
    for fact in store.facts:
        made = substitute(fact, choice)
        if made is not fact or id(fact) not in known:
            parts.append(made)
    for index, wanted in zip(store.indices, load.load.indices, strict=True):
        parts.append(eq(as_index(substitute(index, choice)), as_index(wanted)))
    return logical_and(*parts)


def _substituted(store: PastStore, values: dict[Node, Node]) -> PastStore:
    indices = tuple([substitute(index, values) for index in store.indices])
    facts = tuple([substitute(fact, values) for fact in store.facts])
    bounds = tuple(
        [(v, substitute(begin, values), substitute(end, values)) for v, begin, end in store.bounds]
    )
    return PastStore(indices, facts, bounds)


def _by_form(store: PastStore, load: PerformedLoad) -> dict[Node, Node]:
    """Choose variables so that the indices of a store have the form of those of a load."""
    free = {var for var, _, _ in store.bounds}
    found: dict[Node, Node] = {}
    stack: list[tuple[Node, Node]] = list(zip(store.indices, load.load.indices, strict=True))
    while stack:
        mine, other = stack.pop()
        if isinstance(mine, Var) and mine in free and isinstance(other, Expr):
            found.setdefault(mine, convert(other, mine.dtype))
        elif isinstance(mine, (Binary, Cast)) and mine.__class__ is other.__class__:
            stack += list(zip(children(mine), children(other), strict=True))
    return found


def _by_name(store: PastStore, around: list[Bound]) -> dict[Node, Node]:
    """Choose for each variable the one of its name that counts at a load."""
    named = {var.name: var for var, _, _ in around}
    return {
        var: convert(named[var.name], var.dtype) for var, _, _ in store.bounds if var.name in named
    }
