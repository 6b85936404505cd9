"""Random choices that make a program: from a number, for volume, or from Hypothesis, to shrink."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")


class Picks:
    """Random choices; ``below`` returns a number from 0 on, and 0 for the simplest choice."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    def pick(self, things: Sequence[_T]) -> _T:
        """Pick one of some things, the first being the simplest."""
        return things[self.below(len(things))]

    def between(self, low: int, high: int) -> int:
        """Pick a number of a range, the simplest being 0 or the nearest to it."""
        if low <= 0 <= high:
            found = self.below(high - low + 1)
            return found if found <= high else high - found
        return low + self.below(high - low + 1)

    def one_in(self, count: int) -> bool:
        """Return True once in ``count`` times, and False as the simpler choice."""
        return self.below(count) == count - 1

    def some(self, things: Sequence[_T], most: int) -> list[_T]:
        """Pick up to ``most`` of some things, each at most once, in any order."""
        left, found = list(things), list[_T]()
        for _ in range(min(len(left), 1 + self.below(most))):
            found.append(left.pop(self.below(len(left))))
        return found


def picks_of(number: int) -> Picks:
    """Return choices that are the same for the same number."""
    return Picks(random.Random(number).randrange)


def beginning_with(lead: Sequence[int], picks: Picks) -> Picks:
    """Return choices that begin as a list says, with one that is too high cut to the highest there
    is, and go on as ``picks``."""
    left = iter(lead)

    def below(count: int) -> int:
        first = next(left, None)
        return picks.below(count) if first is None else min(first, count - 1)

    return Picks(below)


@st.composite
def picks(draw: st.DrawFn) -> Picks:
    """Draw choices that Hypothesis shrinks."""
    return Picks(lambda count: draw(st.integers(0, count - 1)))
