"""Choices as a list of numbers: what was drawn can be drawn again, and drawn smaller.

All that a generator does follows from the numbers that ``below`` returned. So one search makes any
kind of sample smaller: with numbers left out, or lower, the generator draws another sample, which
is always legal. 0 is the simplest choice, and what follows the end of the list.
"""

from collections.abc import Callable, Sequence

from irkit.debug import Family, Search
from irkit.fuzz.picks import Picks, beginning_with

Choices = tuple[int, ...]


def record_choices(picks: Picks) -> tuple[Picks, list[int]]:
    """Return choices like ``picks``, and the list in which they are recorded."""
    kept: list[int] = []

    def below(count: int) -> int:
        kept.append(picks.below(count))
        return kept[-1]

    return Picks(below), kept


def record_counted(picks: Picks) -> tuple[Picks, list[tuple[int, int]]]:
    """Return choices like ``picks``, and the list in which they are recorded, each with the number
    of things there were to choose from."""
    kept: list[tuple[int, int]] = []

    def below(count: int) -> int:
        kept.append((picks.below(count), count))
        return kept[-1][0]

    return Picks(below), kept


def replay_choices(choices: Sequence[int]) -> Picks:
    """Return choices that were recorded; one that is too high becomes the highest there is."""
    return beginning_with(choices, Picks(lambda count: 0))


def shrink_choices(
    choices: Choices, holds: Callable[[Choices], bool], *, seconds: float, candidates: int
) -> Choices:
    """Return a shorter, or lower, list of choices for which something still holds."""
    search = Search(holds, lambda made: made, seconds=seconds, candidates=candidates)
    return search.run(_trimmed(choices), _FAMILIES)


# From the end, because what comes later depends on what comes before.
def _places(choices: Choices) -> list[int]:
    return list(reversed(range(len(choices))))


def _left_out(choices: Choices, places: Sequence[int]) -> Choices:
    gone = set(places)
    return _trimmed([each for at, each in enumerate(choices) if at not in gone])


def _zeroed(choices: Choices, places: Sequence[int]) -> Choices:
    gone = set(places)
    return _trimmed([0 if at in gone else each for at, each in enumerate(choices)])


def _lower_values(choices: Choices) -> list[tuple[int, int]]:
    """List lower values of single numbers: halves of them, least first, and one less."""
    found: list[tuple[int, int]] = []
    for at in _places(choices):
        value = choices[at]
        halves = {value >> shift for shift in range(1, value.bit_length())}
        found += [(at, lower) for lower in sorted(halves | {value - 1}) if lower > 0]
    return found


def _lowered(choices: Choices, values: Sequence[tuple[int, int]]) -> Choices | None:
    ((at, lower),) = values
    return (*choices[:at], lower, *choices[at + 1 :])


def _trimmed(choices: Sequence[int]) -> Choices:
    """Remove zeros at the end: they are the default."""
    end = len(choices)
    while end and not choices[end - 1]:
        end -= 1
    return tuple(choices[:end])


_FAMILIES: tuple[Family[Choices], ...] = (
    Family("left out", _places, _left_out),
    Family("zeros", lambda choices: [at for at in _places(choices) if choices[at]], _zeroed),
    Family("lower", _lower_values, _lowered, together=False),
)
