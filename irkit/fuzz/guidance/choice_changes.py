"""Changes to the choices that a case was drawn from; what they draw is always legal.

A choice is kept with the number of things there were to choose from.
"""

import random
from collections.abc import Callable

Choices = tuple[tuple[int, int], ...]
"""Pairs of a choice and its count, in order."""
_MOST_CHANGES = 4
_MOST_LENGTH = 4000


def changed_choices(choices: Choices, other: Choices, rng: random.Random) -> tuple[int, ...]:
    """Return choices with a few changes; ``other`` are of another case of the same kind.

    What follows their end is drawn anew.
    """
    made = choices
    for _ in range(1 + rng.randrange(_MOST_CHANGES)):
        made = rng.choice(_CHANGES)(made, other, rng)
    return tuple(choice for choice, _ in made[:_MOST_LENGTH])


def _another(made: Choices, other: Choices, rng: random.Random) -> Choices:
    """Choose again at one place."""
    if not made:
        return made
    at = rng.randrange(len(made))
    choice, count = made[at]
    near = (choice + rng.choice((-1, 1))) % count
    new = rng.choice((rng.randrange(count), near, 0, count - 1))
    return (*made[:at], (new, count), *made[at + 1 :])


def _anew(made: Choices, other: Choices, rng: random.Random) -> Choices:
    """Draw the end anew."""
    return made[: rng.randrange(len(made) + 1)]


def _left_out(made: Choices, other: Choices, rng: random.Random) -> Choices:
    begin, end = _span(made, rng)
    return made[:begin] + made[end:]


def _twice(made: Choices, other: Choices, rng: random.Random) -> Choices:
    begin, end = _span(made, rng)
    return made[:end] + made[begin:]


def _crossed(made: Choices, other: Choices, rng: random.Random) -> Choices:
    """Take the end of another case."""
    return made[: rng.randrange(len(made) + 1)] + other[rng.randrange(len(other) + 1) :]


def _inserted(made: Choices, other: Choices, rng: random.Random) -> Choices:
    """Insert a part of another case."""
    begin, end = _span(other, rng)
    at = rng.randrange(len(made) + 1)
    return made[:at] + other[begin:end] + made[at:]


def _span(choices: Choices, rng: random.Random) -> tuple[int, int]:
    begin = rng.randrange(len(choices) + 1)
    return begin, min(begin + 1 + rng.randrange(8), len(choices))


_CHANGES: tuple[Callable[[Choices, Choices, random.Random], Choices], ...] = (
    *(4 * (_another,)),
    *(2 * (_anew,)),
    _left_out,
    _twice,
    _crossed,
    _inserted,
)
