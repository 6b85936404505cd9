"""Swarm testing: blocks of cases that use a random subset of what the generators can do.

Where everything can occur, each thing is rare, and what needs many of a kind, or none of another,
never occurs. So each place that picks one of several things leaves some of them out for a block of
cases.

Source: Groce et al., Swarm Testing, ISSTA 2012.
"""

import random
import sys
from functools import cache, lru_cache

from irkit.fuzz import picks as picks_module
from irkit.fuzz.picks import Picks
from irkit.fuzz.shrink import choices as choices_module

BLOCK = 60
"""Cases of a block: ten of each kind."""
_MOST = 64
"""More things than so many are numbers, not features."""
_OFTEN = 24
"""Choices of one place in a case from which on it has everything: no loop may wait for ever."""
_PASSED_THROUGH = {__file__, picks_module.__file__, choices_module.__file__}


def swarm_of(number: int) -> int:
    """Return the swarm that a case belongs to by its number: every second block has everything,
    which is 0."""
    block = number // BLOCK
    return (block + 1) // 2 if block % 2 else 0


def with_swarm(picks: Picks, swarm: str) -> Picks:
    """Return choices that leave out some of the things at each place, the same for a ``swarm``."""
    counts: dict[tuple[str, int], int] = {}

    def below(count: int) -> int:
        if not 1 < count <= _MOST:
            return picks.below(count)
        place = _place()
        often = counts[place] = counts.get(place, 0) + 1
        if often > _OFTEN:
            return picks.below(count)
        left = _left(swarm, place, count)
        return left[picks.below(len(left))]

    return Picks(below)


def _place() -> tuple[str, int]:
    """Return the line of the generator that asks for a choice."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] -- the only quick way
    while frame.f_back is not None and frame.f_code.co_filename in _PASSED_THROUGH:
        frame = frame.f_back
    return _short(frame.f_code.co_filename), frame.f_lineno


@cache
def _short(file: str) -> str:
    return file.rpartition("irkit/")[2]


@lru_cache(maxsize=1 << 14)
def _left(swarm: str, place: tuple[str, int], count: int) -> tuple[int, ...]:
    """Return what a swarm leaves of the things at a place: half of them, or all in half of the
    places."""
    rng = random.Random(f"{swarm} {place[0]}:{place[1]} {count}")
    if rng.random() < 0.5:
        return tuple(range(count))
    return tuple(each for each in range(count) if rng.random() < 0.5) or (rng.randrange(count),)
