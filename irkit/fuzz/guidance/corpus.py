"""The corpus: cases that took a branch of irkit which none before took, and cases made of them."""

import random
from collections.abc import Iterable

import msgspec

from irkit.fuzz.generators.sample import Kind
from irkit.fuzz.guidance.choice_changes import Choices, changed_choices

MOST_CASES = 1000
_MOST_PROGRAM_CHANGES = 3
_NUMBERS = 1 << 32
_SMALL = 20
_LEAST = 0.1
_FADE = 0.98


class KnownCase(msgspec.Struct):
    """A case of the corpus: its ``choices``, and the numbers that its program was changed by.

    ``gain`` is how many branches it was the first to take, and ``tries`` how many cases were made
    of it since the last one that took a new branch.
    """

    kind: Kind
    choices: Choices
    changes: tuple[int, ...] = ()
    gain: int = 1
    tries: int = 0

    @property
    def chosen(self) -> tuple[int, ...]:
        """Return the choices without their counts."""
        return tuple(choice for choice, _ in self.choices)

    @property
    def weight(self) -> float:
        """Return how often it should be chosen, compared with others: small ones, which take less
        time, more often."""
        return min(self.gain, 8) / (1 + self.tries) / (_SMALL + len(self.choices))


class _Yield:
    """How often cases of one origin took a new branch of late."""

    def __init__(self) -> None:
        self.hits, self.cases = 1.0, 2.0

    def count(self, hit: bool) -> None:
        self.hits, self.cases = _FADE * self.hits + hit, _FADE * self.cases + 1

    @property
    def rate(self) -> float:
        return self.hits / self.cases


class DerivedCase(msgspec.Struct, frozen=True):
    """A case made from another: the choices to begin with, and the numbers of program changes."""

    kind: Kind
    choices: tuple[int, ...]
    changes: tuple[int, ...]


class CoverageCorpus:
    """Cases by kind, and all branches that any case has taken.

    There are at most ``MOST_CASES``: the one that was tried most in vain makes room.
    """

    def __init__(self) -> None:
        self.branches: set[str] = set()
        self.cases: dict[Kind, list[KnownCase]] = {}
        self._parents: dict[int, KnownCase] = {}
        self._made, self._drawn = _Yield(), _Yield()

    def __len__(self) -> int:
        return sum(map(len, self.cases.values()))

    @property
    def share(self) -> float:
        """Return the share of cases that should be made from others: what brings new branches more
        often gets more of the cases."""
        made, drawn = self._made.rate**2, self._drawn.rate**2
        return min(max(made / (made + drawn), _LEAST), 1 - _LEAST)

    def forget(self, number: int) -> None:
        """Learn nothing from a case, because it was not watched."""
        self._parents.pop(number, None)

    def learn(
        self,
        kind: Kind,
        number: int,
        choices: Choices,
        changes: tuple[int, ...],
        branches: Iterable[str],
    ) -> bool:
        """Take the branches of a case that was watched; keep the case, and return True, if one is
        new."""
        new = set(branches) - self.branches
        parent = self._parents.pop(number, None)
        (self._drawn if parent is None else self._made).count(bool(new))
        if not new:
            return False
        self.branches |= new
        if parent is not None:
            parent.tries = 0
        if choices:
            self.cases.setdefault(kind, []).append(KnownCase(kind, choices, changes, len(new)))
            self._make_room()
        return True

    def _make_room(self) -> None:
        if len(self) > MOST_CASES:
            worst = min((each for kind in self.cases.values() for each in kind), key=_weight)
            self.cases[worst.kind] = [each for each in self.cases[worst.kind] if each is not worst]

    def derived(self, kind: Kind, number: int, rng: random.Random) -> DerivedCase | None:
        """Make a case with a number from one of a kind, or return None if none is known."""
        known = self.cases.get(kind)
        if not known:
            return None
        first, other = rng.choices(known, weights=list(map(_weight, known)), k=2)
        first.tries += 1
        self._parents[number] = first
        anew = tuple(1 + rng.randrange(_NUMBERS) for _ in range(1 + rng.randrange(2)))
        if rng.random() < 0.5:  # The same program, changed once more.
            kept = first.changes[-_MOST_PROGRAM_CHANGES + 1 :]
            return DerivedCase(kind, first.chosen, (*kept, *anew))
        choices = changed_choices(first.choices, other.choices, rng)
        return DerivedCase(kind, choices, anew if rng.random() < 0.25 else first.changes)


def _weight(case: KnownCase) -> float:
    return case.weight
