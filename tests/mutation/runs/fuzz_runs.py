"""Fuzz irkit with changes, one at a time, until each is found."""

from collections.abc import Iterator, Sequence
from threading import Lock
from time import monotonic
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from tests.mutation.changes.mutant import Mutant, as_it_is, with_probe
from tests.mutation.changes.seeded_bug import SeededBug
from tests.mutation.runs.blame import blamed_at
from tests.mutation.runs.server_pool import spread
from tests.mutation.trials.fork_server import ForkServer, TrialOrder
from tests.mutation.trials.messages import DigestOrder, Equivalence, FuzzOrder, FuzzResult

Change: TypeAlias = "SeededBug | Mutant"
_SMALLER = 60.0
"""Seconds to shrink what is found."""
_GRACE = 10.0
_COMPARING = 30.0


class FuzzedChange(msgspec.Struct, frozen=True):
    """Result of fuzzing one change; a mutant that was not found is compared with the original for
    ``equivalence``."""

    change: Change
    result: FuzzResult
    equivalence: Equivalence | None = None

    @property
    def name(self) -> str:
        """Return the name of the change."""
        return self.change.name

    @property
    def is_seeded(self) -> bool:
        """Return True if the change is a seeded bug, and not a mutant."""
        return isinstance(self.change, SeededBug)

    @property
    def right(self) -> bool:
        """Return True if it was found with a pass named that uses what was changed, or one that the
        catalogue accepts.

        Where no pass is named, the tier that saw it first counts.
        """
        change, named = self.change, self.result.named or self.result.tier
        accepted = change.guilty if isinstance(change, SeededBug) else ()
        return self.result.found and (
            named.removeprefix("sch.").replace("_", "-") in accepted
            or named in blamed_at(change.module, change.line)
        )


def fuzz_changes(
    changes: Sequence[Change],
    order: FuzzOrder,
    *,
    jobs: int = 1,
    seconds: float = 1800.0,
    end: float = float("inf"),
) -> Iterator[FuzzedChange]:
    """Fuzz changes, ``jobs`` at a time; results come in their order.

    Units: ``seconds`` in which cases are drawn for one of them; ``end`` of all, on the clock of
    time.monotonic: a change that has not begun by then has no result.
    """
    unchanged = _UnchangedDigests()

    def go(server: ForkServer, change: Change) -> FuzzedChange | None:
        left = end - monotonic()
        if left <= 0:
            return None
        own = replace(order, within=min(seconds, left), whole=min(seconds + _SMALLER, left))
        trial = TrialOrder(change.module, change.source, seconds=own.whole + _GRACE, fuzz=own)
        result = server.fuzz(trial)
        left = min(_COMPARING, end - monotonic())
        if result.found or isinstance(change, SeededBug) or left < _COMPARING / 2:
            return FuzzedChange(change, result)
        return FuzzedChange(change, result, unchanged.equivalence_of(server, change, order, left))

    found = spread(changes, go, [ForkServer(0, -1) for _ in range(jobs)])
    return (result for result in found if result is not None)


class _UnchangedDigests:
    """Digests of what unchanged irkit lowers the same cases to."""

    def __init__(self) -> None:
        self._known: tuple[str, ...] = ()
        self._lock = Lock()

    def equivalence_of(
        self, server: ForkServer, mutant: Mutant, order: FuzzOrder, seconds: float
    ) -> Equivalence:
        """Compare what is lowered; where all is the same, probe the changed place."""
        digest = DigestOrder(order.seed, order.count, order.kinds, seconds / 2)
        trial = TrialOrder(mutant.module, mutant.source, seconds=seconds + _GRACE, digest=digest)
        with self._lock:
            if not self._known:
                same = replace(trial, source=as_it_is(mutant.module))
                self._known = server.digest(same).digests
        found = server.digest(trial).digests
        both = list(zip(self._known, found, strict=False))
        differ = sum(a != b for a, b in both)
        source = "" if differ else with_probe(mutant)
        if not source:
            return Equivalence(len(both), differ)
        probe = server.digest(replace(trial, source=source))
        return Equivalence(len(both), differ, probe.reached, probe.other)
