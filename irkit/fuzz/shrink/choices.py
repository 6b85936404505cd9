"""Choices as a list of numbers: what was drawn can be drawn again, and drawn smaller.

All that a generator does follows from the numbers that ``below`` returned. So one search makes any
kind of sample smaller: with numbers left out, or lower, the generator draws another sample, which
is always legal. 0 is the simplest choice, and what follows the end of the list.
"""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from irkit.fuzz.picks import Picks, beginning_with

Choices = tuple[int, ...]
Holds = Callable[[Choices], bool]
_CHUNKS = (64, 32, 16, 8, 4, 3, 2, 1)


def record_choices(picks: Picks) -> tuple[Picks, list[int]]:
    """Return choices like ``picks``, and the list in which they are recorded."""
    kept: list[int] = []

    def below(count: int) -> int:
        kept.append(picks.below(count))
        return kept[-1]

    return Picks(below), kept


def replay_choices(choices: Sequence[int]) -> Picks:
    """Return choices that were recorded; one that is too high becomes the highest there is."""
    return beginning_with(choices, Picks(lambda count: 0))


def shrink_choices(choices: Choices, holds: Holds, *, seconds: float, candidates: int) -> Choices:
    """Return a shorter, or lower, list of choices for which something still holds.

    The search is greedy and deterministic, unless time runs out: chunks are left out, then set to
    0, then single numbers are lowered, until nothing more can be done.
    """
    search = _ChoiceSearch(holds, monotonic() + seconds, candidates)
    best, before = _trimmed(choices), ()
    while best != before and not search.is_over:
        before = best
        for moves in (_shorter, _zeroed, _lower):
            best = search.improved(best, moves)
    return best


class _ChoiceSearch:
    def __init__(self, holds: Holds, end: float, most: int) -> None:
        self.holds, self.end, self.left = holds, end, most
        self.known: set[Choices] = set()

    @property
    def is_over(self) -> bool:
        return self.left <= 0 or monotonic() >= self.end

    def improved(self, best: Choices, moves: "Moves") -> Choices:
        """Apply each move that keeps the property."""
        for size in _CHUNKS:
            at = len(best) - 1  # From the end: what comes later depends on what comes before.
            while at >= 0 and not self.is_over:
                start = max(0, at - size + 1)
                taken = next((made for made in moves(best, start, size) if self._takes(made)), None)
                best = best if taken is None else taken
                at = min(start - 1, len(best) - 1)
        return best

    def _takes(self, made: Choices) -> bool:
        if made in self.known or self.is_over:
            return False
        self.known.add(made)
        self.left -= 1
        return self.holds(made)


Moves = Callable[[Choices, int, int], Iterator[Choices]]


def _shorter(choices: Choices, start: int, size: int) -> Iterator[Choices]:
    yield _trimmed(choices[:start] + choices[start + size :])


def _zeroed(choices: Choices, start: int, size: int) -> Iterator[Choices]:
    chunk = choices[start : start + size]
    if any(chunk):
        yield _trimmed(choices[:start] + (0,) * len(chunk) + choices[start + size :])


def _lower(choices: Choices, start: int, size: int) -> Iterator[Choices]:
    """Lower a single number: to the least that holds among halves of it, and by one."""
    if size > 1:
        return
    value = choices[start]
    for lower in sorted({value >> shift for shift in range(1, value.bit_length())} | {value - 1}):
        if 0 < lower < value:
            yield (*choices[:start], lower, *choices[start + 1 :])


def _trimmed(choices: Sequence[int]) -> Choices:
    """Remove zeros at the end: they are the default."""
    end = len(choices)
    while end and not choices[end - 1]:
        end -= 1
    return tuple(choices[:end])
