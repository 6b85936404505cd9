"""Fuzz irkit with changes, one at a time, until each is found."""

from collections.abc import Iterator, Sequence
from threading import Lock
from time import monotonic
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from irkit.fuzz.mutation.fork_server import ForkServer, TrialOrder, source_of
from irkit.fuzz.mutation.mutants.mutant import Mutant, as_it_is, with_probe
from irkit.fuzz.mutation.runner.blame import blamed_at
from irkit.fuzz.mutation.runner.server_pool import spread
from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug
from irkit.fuzz.mutation.trials.messages import DigestOrder, Equivalence, FuzzOrder, FuzzResult

Change: TypeAlias = "SeededBug | Mutant"
_SMALLER = 60.0
"""Seconds to make small what is found."""
_GRACE = 10.0
_COMPARING = 30.0


class FuzzedChange(msgspec.Struct, frozen=True):
    """Result of fuzzing one change; a mutant that was not found is compared with the original for
    ``equivalence``."""

    game: Change
    caught: FuzzResult
    weighed: Equivalence | None = None

    @property
    def name(self) -> str:
        """Return the name of the change."""
        game = self.game
        return game.name if isinstance(game, SeededBug) else f"line {game.line}: {game.what}"

    @property
    def is_planted(self) -> bool:
        """Return True if the change is a seeded bug, and not a mutant."""
        return isinstance(self.game, SeededBug)

    @property
    def right(self) -> bool:
        """Return True if it was found with a pass named that uses what was changed, or one that the
        catalogue accepts.

        Where no pass is named, the tier that saw it first counts.
        """
        game, named = self.game, self.caught.named or self.caught.tier
        if isinstance(game, SeededBug):
            if named.removeprefix("sch.").replace("_", "-") in game.guilty:
                return self.caught.found
            line = game.line_in(source_of(game.module))
        else:
            line = game.line
        return self.caught.found and named in blamed_at(game.module, line)


def fuzz_changes(
    games: Sequence[Change],
    hunt: FuzzOrder,
    *,
    jobs: int = 1,
    seconds: float = 1800.0,
    end: float = float("inf"),
) -> Iterator[FuzzedChange]:
    """Fuzz changes, ``jobs`` at a time; results come in their order.

    Units: ``seconds`` in which cases are drawn for one of them; ``end`` of all, on the clock of
    time.monotonic: a change that has not begun by then has no result.
    """
    unchanged = _Unchanged()

    def go(nursery: ForkServer, game: Change) -> FuzzedChange | None:
        left = end - monotonic()
        if left <= 0:
            return None
        own = replace(hunt, within=min(seconds, left), whole=min(seconds + _SMALLER, left))
        order = TrialOrder(game.module, _source(game), seconds=own.whole + _GRACE, hunt=own)
        caught = nursery.hunt(order)
        left = min(_COMPARING, end - monotonic())
        if caught.found or isinstance(game, SeededBug) or left < _COMPARING / 2:
            return FuzzedChange(game, caught)
        return FuzzedChange(game, caught, unchanged.weighed(nursery, game, hunt, left))

    found = spread(games, go, [ForkServer(0, -1) for _ in range(jobs)])
    return (result for result in found if result is not None)


class _Unchanged:
    """Digests of what unchanged irkit lowers the same cases to."""

    def __init__(self) -> None:
        self._known: tuple[str, ...] = ()
        self._lock = Lock()

    def weighed(
        self, nursery: ForkServer, mutant: Mutant, hunt: FuzzOrder, seconds: float
    ) -> Equivalence:
        """Compare what is lowered; where all is the same, probe the changed place."""
        survey = DigestOrder(hunt.seed, hunt.count, hunt.kinds, seconds / 2)
        order = TrialOrder(mutant.module, mutant.source, seconds=seconds + _GRACE, survey=survey)
        with self._lock:
            if not self._known:
                same = replace(order, source=as_it_is(mutant.module))
                self._known = nursery.survey(same).digests
        found = nursery.survey(order).digests
        both = list(zip(self._known, found, strict=False))
        differ = sum(a != b for a, b in both)
        source = "" if differ else with_probe(mutant)
        if not source:
            return Equivalence(len(both), differ)
        probe = nursery.survey(replace(order, source=source))
        return Equivalence(len(both), differ, probe.reached, probe.other)


def _source(game: Change) -> str:
    return game.source if isinstance(game, Mutant) else game.planted_in(source_of(game.module))
