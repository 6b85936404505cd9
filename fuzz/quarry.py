"""What a hunt is to look for, and what it caught."""

import msgspec

from irkit.fuzz.generators import KINDS, Kind

SMALL = (3, 2, 3)
"""Stages, steps of a schedule and passes that a finding is to be made as small as."""


class Hunt(msgspec.Struct, frozen=True):
    """Draw the cases ``first`` to ``first + count - 1`` of a campaign and judge them until one is
    wrong. ``apart`` judges each in a process of its own, since the first one is known to end
    its process. Units: ``seconds`` to make small what is found."""

    seed: int = 0
    first: int = 0
    count: int = 10_000
    kinds: tuple[Kind, ...] = KINDS
    apart: bool = False
    seconds: float = 20.0


class Caught(msgspec.Struct, frozen=True):
    """What a hunt caught: the case by its number and kind, what is wrong, the pass that is named,
    and the size of what is left of it, which ``text`` is. An empty ``status`` is nothing.

    Units: ``seconds`` until it was found, ``shrinking`` until it was small.
    """

    status: str = ""
    number: int = 0
    kind: str = ""
    tier: str = ""
    named: str = ""
    message: str = ""
    stages: int = 0
    steps: int = 0
    passes: int = 0
    text: str = ""
    seconds: float = 0.0
    shrinking: float = 0.0

    @property
    def found(self) -> bool:
        return bool(self.status)

    @property
    def is_small(self) -> bool:
        """Say whether it was made as small as it should be."""
        return self.stages > 0 and all(
            a <= b for a, b in zip((self.stages, self.steps, self.passes), SMALL, strict=True)
        )
