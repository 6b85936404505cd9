"""Which iterations of a loop, or threads of a nest, may meet, pair by pair of accesses."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from irkit.core import symbols_bound, walk
from irkit.ir import For, PrimFunc
from irkit.ir.analysis import memory_owners
from irkit.ir.threads import AccessPlace, ThreadConflicts, common_path, is_thread_loop
from irkit.proof.accesses.guarded_accesses import GuardedAccess
from irkit.proof.concrete import ModelValues
from irkit.proof.races.pairs import Iterations, NoAnswer, PairQuestion
from irkit.proof.races.places import AccessTable, buffer_of, pairs_that_may_meet
from irkit.proof.translate import TooManyNodes

MOST_PAIRS = 300
"""Pairs of accesses that are asked about for each loop or nest."""


class Meeting(msgspec.Struct, frozen=True, eq=False):
    """Two accesses that may touch one element: values for which they do, or why it is not known."""

    question: PairQuestion | None
    model: ModelValues | None
    reason: str = ""


def meeting_of(
    pair: tuple[GuardedAccess, GuardedAccess],
    iterations: Iterations,
    table: AccessTable,
    context: Any,
) -> Meeting | None:
    """Return how two accesses meet; None if they never do."""
    try:
        question = PairQuestion(*pair, iterations, table, context)
        model = question.meeting()
    except TooManyNodes:
        return Meeting(None, None, "it is too large to translate")
    except NoAnswer:
        return Meeting(None, None, "z3 found neither a proof nor values in its time")
    return None if model is None else Meeting(question, model)


def loop_meetings(loop: For, table: AccessTable, context: Any) -> Iterator[Meeting]:
    """Yield how iterations of a loop may meet."""
    own = memory_owners(table.func).own(loop)
    found = [each for each in table.of(loop.body) if table.memory(buffer_of(each)) not in own]
    bound = frozenset((loop.var, *symbols_bound(loop.body)))
    iterations = Iterations(bound, (loop.var,), (), table.changing(loop))
    for number, pair in enumerate(pairs_that_may_meet(found, found, table)):
        if number == MOST_PAIRS:
            yield Meeting(None, None, f"there are more than {MOST_PAIRS} pairs of accesses")
            return
        met = meeting_of(pair, iterations, table, context)
        if met is not None:
            yield met


class ProvedConflicts(ThreadConflicts):
    """Conflicts between threads, where a proof can show that there are none.

    ``meetings`` are those found in ``nest``.
    """

    def __init__(self, func: PrimFunc, nest: For, table: AccessTable, context: Any) -> None:
        super().__init__(func)
        self.nest, self.table, self.context = nest, table, context
        self.meetings: list[Meeting] = []
        self._bound = frozenset(symbols_bound(nest))
        self._moving = table.changing(nest)
        self._left = MOST_PAIRS
        self._answers: dict[tuple[int, ...], bool] = {}

    def between(self, a: AccessPlace, b: AccessPlace) -> bool:
        key = tuple([id(part) for what, path in (a, b) for part in (what, *path, None)])
        if key not in self._answers:
            self._answers[key] = super().between(a, b) and self._may_meet(a, b)
        return self._answers[key]

    def _may_meet(self, a: AccessPlace, b: AccessPlace) -> bool:
        common = common_path(a[1], b[1])
        serial = {loop.var for loop in common if not is_thread_loop(loop)}
        threads = [loop for loop in common if is_thread_loop(loop)]
        own = self._bound - serial
        for pair in self._pairs(a, b):
            private = self._private_to(pair[0])
            apart = tuple([loop.var for loop in threads if loop not in private])
            if not apart:
                continue
            self._left -= 1
            if self._left < 0:
                reason = f"there are more than {MOST_PAIRS} pairs of accesses"
                self.meetings.append(Meeting(None, None, reason))
                return True
            equal = tuple([loop.var for loop in threads if loop in private])
            iterations = Iterations(own, apart, equal, self._moving)
            met = meeting_of(pair, iterations, self.table, self.context)
            if met is not None:
                self.meetings.append(met)
                return True
        return False

    def _pairs(
        self, a: AccessPlace, b: AccessPlace
    ) -> Iterable[tuple[GuardedAccess, GuardedAccess]]:
        return pairs_that_may_meet(self.table.of(a[0]), self.table.of(b[0]), self.table)

    def _private_to(self, access: GuardedAccess) -> tuple[For, ...]:
        """Return the loops whose threads each have memory of their own."""
        memory, owners = self.table.memory(buffer_of(access)), memory_owners(self.table.func)
        nest = [self.nest, *walk(self.nest.body, For)]
        return tuple([loop for loop in nest if memory in owners.own(loop)])
