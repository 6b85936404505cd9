"""The search for something smaller that still fails, whatever it is: a case, a sample, a text, or
the numbers that a sample was drawn from.

A family lists moves, those that leave least first. Many are made at once, then halves of them, down
to single ones; what still fails is searched further. Families take turns until none of them finds
anything smaller. The same search tries the same candidates unless time runs out.
"""

from collections.abc import Callable, Hashable, Sequence
from time import monotonic
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")


class Family(msgspec.Struct, Generic[T], frozen=True):
    """Moves of one kind: ``moves`` lists those for a thing, and ``apply`` makes several of them;
    it returns None if they do not apply. Moves that are not made ``together`` are tried one by one.
    """

    name: str
    moves: Callable[[T], Sequence[Any]]
    apply: Callable[[T, Sequence[Any]], T | None]
    together: bool = True


def all_moves(thing: T, moves: Sequence[Callable[[T], T | None]]) -> T | None:
    """Make moves that are functions, each on the result of those before; leave out those that do
    not apply."""
    made: T | None = None
    for move in moves:
        made = move(thing if made is None else made) or made
    return made


class Search(Generic[T]):
    """A search within limits. ``holds`` returns True for what still fails; nothing is tried twice,
    as far as ``key`` tells. ``progress`` is called with the family and what was accepted."""

    def __init__(
        self,
        holds: Callable[[T], bool],
        key: Callable[[T], Hashable],
        *,
        seconds: float,
        candidates: int,
        progress: Callable[[str, T], object] = lambda name, thing: None,
    ) -> None:
        self.holds, self.key, self.progress = holds, key, progress
        self.end, self.most = monotonic() + seconds, candidates
        self.count = 0
        self._known: set[Hashable] = set()

    @property
    def is_over(self) -> bool:
        """Return True if the time or the candidates are used up."""
        return self.count >= self.most or monotonic() >= self.end

    def run(self, thing: T, families: Sequence[Family[T]]) -> T:
        """Return the smallest found with all families."""
        before = None
        while thing is not before and not self.is_over:
            before = thing
            for family in families:
                thing = self.shrink(thing, family)
        return thing

    def shrink(self, thing: T, family: Family[T]) -> T:
        """Make all the moves of a family after which it still fails."""
        moves = family.moves(thing)
        size = len(moves) if family.together else min(1, len(moves))
        while size and not self.is_over:
            at = 0
            while at < len(moves) and not self.is_over:
                made = family.apply(thing, moves[at : at + size])
                if made is not None and self._accepts(made):
                    thing = made
                    moves = family.moves(thing)  # The next move is at or near the same position.
                    self.progress(family.name, thing)
                else:
                    at += size
            size = min(size, len(moves)) // 2
        return thing

    def _accepts(self, thing: T) -> bool:
        key = self.key(thing)
        if key in self._known:
            return False
        self._known.add(key)
        self.count += 1
        return self.holds(thing)
