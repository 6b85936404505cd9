"""Check a list of passes before anything runs: the facts they need, and orders with reasons."""

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

import msgspec

from irkit.core import IRKitError
from irkit.transform.define import AnyPass
from irkit.transform.facts import Fact

PlacedPass = tuple[int, AnyPass]


class Order(msgspec.Struct, frozen=True):
    """A requirement that the pass ``before`` runs before the pass ``after``, with the reason."""

    before: str
    after: str
    reason: str

    def __str__(self) -> str:
        return f"'{self.before}' before '{self.after}': {self.reason}"


def facts_after(placed: Iterable[PlacedPass], given: Iterable[Fact]) -> Iterator[frozenset[Fact]]:
    """Yield the facts in force after each pass: those before it, without those it breaks, with
    those it gives."""
    state = frozenset(given)
    for _, p in placed:
        state = (state - frozenset(p.breaks)) | frozenset(p.gives)
        yield state


class MissingFact(IRKitError):
    """A pass needs a fact that is not in force at its place; ``fact`` is the name."""

    fact: str = ""

    def name_givers(self, passes: Iterable[AnyPass], where: str) -> None:
        """Name the passes that give the fact in the hint."""
        names = dict.fromkeys(p.name for p in passes for fact in p.gives if fact.name == self.fact)
        if names:
            self.hint = f"It is given by {', '.join(map(repr, names))}{where}."


def check_facts(placed: list[PlacedPass], given: tuple[Fact, ...]) -> None:
    """Raise MissingFact if a pass needs a fact that is not in force at its place."""
    state = frozenset(given)
    broken: dict[Fact, PlacedPass] = {}
    for at, (phase, p) in enumerate(placed):
        for fact in p.needs:
            if fact not in state:
                why = "which nothing before it gives"
                if fact in broken:
                    why = f"which '{broken[fact][1].name}' (phase {broken[fact][0]}) breaks"
                error = MissingFact(
                    f"phase {phase}: '{p.name}' needs {fact.name}, {why}",
                    hint=_who_gives(fact, placed[at + 1 :]),
                )
                error.fact = fact.name
                raise error
        broken.update((fact, (phase, p)) for fact in p.breaks)
        state = (state - frozenset(p.breaks)) | frozenset(p.gives)


def _who_gives(fact: Fact, later: list[PlacedPass]) -> str:
    givers = [f"'{p.name}' (phase {phase})" for phase, p in later if fact in p.gives]
    if givers:
        return f"{', '.join(givers)} gives it, but comes later."
    return f"No pass of this pipeline gives {fact.name}; insert one that does before it."


def check_order(placed: list[PlacedPass], order: tuple[Order, ...]) -> None:
    """Raise IRKitError if the pairs contradict each other, or the passes contradict a pair.

    Of a pass that runs several times, the first run counts.
    """
    _check_acyclic(order)
    first: dict[str, int] = {}
    for at, (_, p) in enumerate(placed):
        first.setdefault(p.name, at)
    for pair in order:
        if pair.before in first and pair.after in first and first[pair.before] > first[pair.after]:
            raise IRKitError(
                f"phase {placed[first[pair.after]][0]}: '{pair.after}' must come after "
                f"'{pair.before}' (phase {placed[first[pair.before]][0]}): {pair.reason}"
            )


def _check_acyclic(order: tuple[Order, ...]) -> None:
    graph: TopologicalSorter[str] = TopologicalSorter()
    for pair in order:
        graph.add(pair.after, pair.before)
    try:
        graph.prepare()
    except CycleError as error:
        cycle: list[Any] = error.args[1]
        names = " before ".join(f"'{name}'" for name in cycle)
        raise IRKitError(f"the order of passes contradicts itself: {names}") from None
