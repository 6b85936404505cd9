"""Judge a sample in several processes, which take blocks of cases in turn."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Lock
from time import monotonic

import msgspec

from irkit.core import IRKitError
from irkit.processes import ONE_THREAD, Child, ChildDied
from tests.mutation.changes.mutant import Mutant
from tests.mutation.schemata import worker
from tests.mutation.schemata.instrument import How, how_switched
from tests.mutation.schemata.loading import LASTING
from tests.mutation.schemata.messages import (
    AloneOrder,
    BlockOrder,
    BlockResult,
    Found,
    Loaded,
    SampleOrder,
)

BLOCK = 18
"""Cases of a block. The first ones, in which most mutants are found, are a sixth as long."""
_EARLY = 4 * BLOCK
ALONE_CASES = 1_500
"""Cases for a mutant that only an import switches on, which are all judged."""


class Tally(msgspec.Struct):
    """What is known of one mutant; the counts are of cases."""

    mutant: Mutant
    how: How
    imported: bool = False
    reached: int = 0
    infected: int = 0
    judged: int = 0
    changed: int = 0
    alone: int = 0
    found: Found | None = None
    proof: str = ""
    """What a proof says: the test that refutes it."""

    @property
    def needs_import(self) -> bool:
        """Return True if it has to be on when irkit is imported."""
        return self.imported or self.how == "import" or self.mutant.module.startswith(LASTING)


class Campaign:
    """A sample on its way through the cases; ``progress`` prints a line."""

    def __init__(
        self,
        chosen: Sequence[Mutant],
        seed: int,
        *,
        jobs: int = 1,
        progress: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.tallies = [Tally(mutant, how_switched(mutant)) for mutant in chosen]
        self.seed, self.progress = seed, progress
        self.cases = 0
        self.unusable = 0
        self.unclean: list[str] = []
        self.dismissed: list[Found] = []
        self._children = [Child(env=ONE_THREAD) for _ in range(jobs)]
        self._lock = Lock()

    def __enter__(self) -> "Campaign":
        return self

    def __exit__(self, *ignored: object) -> None:
        for child in self._children:
            child.close()

    def load(self) -> None:
        """Import irkit with the sample in each process."""
        mutants = tuple(tally.mutant for tally in self.tallies)
        order = SampleOrder(mutants)
        with ThreadPoolExecutor(len(self._children)) as pool:
            made = list(pool.map(partial(_call, worker.load_sample, order), self._children))
        for number in msgspec.json.decode(made[0], type=Loaded).imported:
            self.tallies[number].imported = True

    def run_cases(self, count: int, end: float, *, first: int = 0) -> None:
        """Judge the cases from ``first`` to ``count - 1`` until all mutants are found, or the time
        is over; ``end`` is on the clock of time.monotonic."""
        early = range(0, min(count, _EARLY), BLOCK // 6)
        starts = [*early, *range(_EARLY, count, BLOCK), count]
        blocks = iter(pairwise([first, *(start for start in starts if start > first)]))
        with ThreadPoolExecutor(len(self._children)) as pool:
            list(pool.map(partial(self._blocks, blocks, end), self._children))

    def _blocks(self, blocks: Iterator[tuple[int, int]], end: float, child: Child) -> None:
        while monotonic() < end:
            with self._lock:
                block, alive = next(blocks, None), self._alive()
            if block is None or not alive:
                return
            order = BlockOrder(self.seed, *block, alive)
            self._merge(
                msgspec.json.decode(_call(worker.run_block, order, child), type=BlockResult)
            )

    def _alive(self) -> dict[int, int]:
        return {
            number: tally.infected
            for number, tally in enumerate(self.tallies)
            if tally.found is None and tally.how != "import"
        }

    def run_imported(self, count: int, seconds: float, end: float) -> None:
        """Judge cases for the mutants that an import switches on, and that are not found yet.

        Units: ``seconds`` for each.
        """
        left = [n for n, tally in enumerate(self.tallies) if tally.needs_import and not tally.found]
        waiting = iter(left)

        def go(child: Child) -> None:
            while monotonic() < end:
                with self._lock:
                    number = next(waiting, None)
                if number is None:
                    return
                order = AloneOrder(self.seed, number, 0, min(count, ALONE_CASES), seconds)
                made = msgspec.json.decode(_call(worker.run_alone, order, child), type=BlockResult)
                self.tallies[number].alone += made.cases
                self._merge(made)

        with ThreadPoolExecutor(len(self._children)) as pool:
            list(pool.map(go, self._children))

    def _merge(self, result: BlockResult) -> None:
        with self._lock:
            alone = result.now if result.now >= 0 else None
            if alone is None:
                self.cases += result.cases
                self.unusable += result.unusable
            self.unclean += result.unclean
            self.dismissed += result.dismissed
            for name in ("reached", "infected", "judged", "changed"):
                counted: dict[int, int] = getattr(result, name)
                for number, count in counted.items():
                    tally = self.tallies[number]
                    setattr(tally, name, getattr(tally, name) + count)
            for found in result.found:
                tally = self.tallies[found.mutant]
                if tally.found is None or found.case < tally.found.case:
                    tally.found = found
            self._report(result)

    def _report(self, result: BlockResult) -> None:
        found = sum(tally.found is not None for tally in self.tallies)
        for each in result.found:
            tally = self.tallies[each.mutant]
            self.progress(
                f"found in case {each.case + 1}: {tally.mutant.module} {tally.mutant.name}"
            )
        for line in result.unclean:
            self.progress(f"unclean: {line}")
        self.progress(f"{self.cases} cases, {found} of {len(self.tallies)} found")


def _call(function: Callable[[bytes], bytes], order: msgspec.Struct, child: Child) -> bytes:
    try:
        return child.call(function, msgspec.json.encode(order))
    except ChildDied as died:
        raise IRKitError(f"the process that judges mutants has ended: {died.message}") from None
