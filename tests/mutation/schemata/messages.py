"""Messages between the command and the processes in which mutants are judged."""

from collections import Counter

import msgspec

from tests.mutation.changes.mutant import Mutant


class BlockOrder(msgspec.Struct, frozen=True):
    """Judge the cases ``first`` to ``end - 1``; ``alive`` are the mutants that are looked for, with
    the number of cases that infected each so far."""

    seed: int
    first: int
    end: int
    alive: dict[int, int] = {}


class Found(msgspec.Struct, frozen=True):
    """A case that shows a mutant, and how; ``redrawn`` if the mutant was on while it was drawn."""

    mutant: int
    case: int
    status: str
    tier: str = ""
    named: str = ""
    message: str = ""
    redrawn: bool = False


class BlockResult(msgspec.Struct):
    """What a block of cases told; the counts are of cases, by mutant.

    ``judged`` are those that were run again with a mutant, ``changed`` those of them in which the
    sample, the native code or the results differ. ``next`` is the first case that is not done,
    ``now`` the mutant that is on, also while the case is drawn if it is ``redrawn``.
    """

    next: int
    now: int = -1
    redrawn: bool = False
    cases: int = 0
    unusable: int = 0
    unclean: list[str] = []
    reached: dict[int, int] = {}
    infected: dict[int, int] = {}
    judged: dict[int, int] = {}
    changed: dict[int, int] = {}
    found: list[Found] = []
    dismissed: list[Found] = []

    def add(self, other: "BlockResult") -> None:
        """Add what later cases told."""
        self.next, self.now = other.next, other.now
        self.cases += other.cases
        self.unusable += other.unusable
        self.unclean += other.unclean
        for name in ("reached", "infected", "judged", "changed"):
            counts: dict[int, int] = getattr(self, name)
            more: dict[int, int] = getattr(other, name)
            setattr(self, name, dict(Counter(counts) + Counter(more)))
        self.found += other.found
        self.dismissed += other.dismissed


class Loaded(msgspec.Struct, frozen=True):
    """What was found out when a sample was imported: the mutants that the import reached."""

    imported: tuple[int, ...] = ()


class AloneOrder(msgspec.Struct, frozen=True):
    """Import irkit anew with one mutant on, and judge cases until it is found. Units: seconds."""

    seed: int
    mutant: int
    first: int
    end: int
    seconds: float = 120.0


class SampleOrder(msgspec.Struct, frozen=True):
    """The mutants of a sample; the number of each is its position."""

    mutants: tuple[Mutant, ...]
