"""Choices that make a random program: from a number, for volume, or from Hypothesis, to shrink."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")


class Picks:
    """Pick among things; ``below`` gives a number from 0 on, and 0 for the simplest choice."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    def pick(self, things: Sequence[_T]) -> _T:
        """Pick one of some things, the first being the simplest."""
        return things[self.below(len(things))]

    def between(self, low: int, high: int) -> int:
        """Pick a number of a range, the simplest being 0 or what is next to it."""
        if low <= 0 <= high:
            found = self.below(high - low + 1)
            return found if found <= high else high - found
        return low + self.below(high - low + 1)

    def one_in(self, count: int) -> bool:
        """Say yes once in ``count`` times, and no where that is simpler."""
        return self.below(count) == count - 1

    def some(self, things: Sequence[_T], most: int) -> list[_T]:
        """Pick up to ``most`` of some things, each at most once, in any order."""
        left, found = list(things), list[_T]()
        for _ in range(min(len(left), 1 + self.below(most))):
            found.append(left.pop(self.below(len(left))))
        return found


def picks_of(number: int) -> Picks:
    """Make choices that are the same for the same number."""
    return Picks(random.Random(number).randrange)


def beginning_with(lead: Sequence[int], picks: Picks) -> Picks:
    """Make the first choices as a list says, the highest there is for one that is too high, and the
    others as ``picks`` does."""
    left = iter(lead)

    def below(count: int) -> int:
        told = next(left, None)
        return picks.below(count) if told is None else min(told, count - 1)

    return Picks(below)


@st.composite
def picks(draw: st.DrawFn) -> Picks:
    """Make choices that Hypothesis knows of."""
    return Picks(lambda count: draw(st.integers(0, count - 1)))
