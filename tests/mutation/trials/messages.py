"""Messages between the fork server and its children: orders and results."""

import msgspec

from irkit.fuzz.generators.sample import KINDS, Kind

SMALL = (3, 2, 3)
"""Stages, schedule steps and passes that a finding should shrink to."""


class FuzzOrder(msgspec.Struct, frozen=True):
    """Draw the cases ``first`` to ``first + count - 1`` of a campaign and judge them until one is
    wrong. ``apart`` judges each in a process of its own, for a case that is known to kill its
    process.

    Units: ``within`` are seconds in which cases are drawn, ``whole`` those of all, ``seconds`` of
    each search that shrinks what is found.
    """

    seed: int = 0
    first: int = 0
    count: int = 10_000
    kinds: tuple[Kind, ...] = KINDS
    apart: bool = False
    seconds: float = 20.0
    within: float = 1800.0
    whole: float = 1860.0


class DigestOrder(msgspec.Struct, frozen=True):
    """Draw the first ``count`` cases of a campaign and keep what each was lowered to. Units:
    ``seconds``."""

    seed: int = 0
    count: int = 2_000
    kinds: tuple[Kind, ...] = KINDS
    seconds: float = 20.0


class Digests(msgspec.Struct, frozen=True):
    """A digest for each case, and how often a probed place was reached and would have given
    something else."""

    digests: tuple[str, ...] = ()
    reached: int = 0
    other: int = 0


class Equivalence(msgspec.Struct, frozen=True):
    """What is known of a change that no case showed: of ``of`` cases, ``differ`` are drawn or
    lowered differently. If none is, the changed place was ``reached`` so often, and gave something
    ``other`` so often."""

    of: int = 0
    differ: int = 0
    reached: int = 0
    other: int = 0

    @property
    def status(self) -> str:
        """Return the conclusion in a word or two."""
        if self.differ:
            return "means the same"
        if self.other:
            return "changes nothing"
        return "same value" if self.reached else "never reached"

    def __str__(self) -> str:
        if not self.of:
            return "not compared"
        if self.differ:
            return f"{self.differ} of {self.of} lowered differently, and mean the same"
        return f"none of {self.of} lowered differently; " + (
            f"reached {self.reached} times, with another value {self.other} times"
            if self.reached
            else "never reached"
        )


class FuzzResult(msgspec.Struct, frozen=True):
    """Result of fuzzing: the case by its number and kind, what is wrong, the pass that is named,
    and the size of the shrunk case, which is ``text``. An empty ``status`` means nothing was found;
    the ``number`` is then that of the next case, and ``cut`` means that there was no time for more.

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
    cut: bool = False

    @property
    def found(self) -> bool:
        return bool(self.status)

    @property
    def is_small(self) -> bool:
        """Return True if it was shrunk as far as it should be."""
        return self.stages > 0 and all(
            a <= b for a, b in zip((self.stages, self.steps, self.passes), SMALL, strict=True)
        )
