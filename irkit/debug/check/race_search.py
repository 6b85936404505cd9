"""Races that a step brings: two iterations or threads that nothing orders, at one element."""

from irkit.core import IRKitError, any_node
from irkit.debug.execution.inputs import InputSet
from irkit.ir import For, PrimFunc, Race, find_race

ORDERLESS = ("parallel", "vectorized", "thread")
RACE_STEPS = 20_000
MAX_INPUTS = 2


def is_concurrent(func: PrimFunc) -> bool:
    """Return True if a function has loops whose iterations have no order."""
    return any_node(func, For, _has_no_order)


def _has_no_order(loop: For) -> bool:
    return loop.kind in ORDERLESS


def _has_threads(func: PrimFunc) -> bool:
    return any_node(func, For, _is_of_threads)


def _is_of_threads(loop: For) -> bool:
    return loop.kind == "thread"


class RaceSearch:
    """A search for races on sets of inputs; each function is searched once.

    A function that was given with a race is not searched further: a step is only to blame for what
    was not there before it.
    """

    def __init__(self, inputs: list[InputSet]) -> None:
        self.inputs = inputs
        self._known: dict[int, tuple[PrimFunc, Race | None]] = {}

    def new_race(
        self, before: PrimFunc, after: PrimFunc, *, scheduling: bool = False
    ) -> Race | None:
        """Return a race of ``after``, unless ``before`` has one.

        Threads run in lockstep until ``thread_sync`` puts barriers between them: neither steps of a
        schedule nor threads that a pass makes of other loops race.
        """
        found = self._race_of(after)
        if found is None or self._race_of(before) is not None:
            return None
        lockstep = scheduling or not _has_threads(before)
        return None if found.kind == "thread" and lockstep else found

    def _race_of(self, func: PrimFunc) -> Race | None:
        if id(func) not in self._known:
            self._known[id(func)] = func, self._searched(func)
        return self._known[id(func)][1]

    def _searched(self, func: PrimFunc) -> Race | None:
        for inputs in self.inputs[:MAX_INPUTS] if is_concurrent(func) else ():
            try:
                found = find_race(func, *inputs.copied(), max_steps=RACE_STEPS)
            except IRKitError:  # Too long, or it fails, which the comparison reports.
                continue
            if found is not None:
                return found
        return None
