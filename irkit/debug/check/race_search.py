"""Races that a step brings, and what is known about the order of iterations and threads.

A loop without an order is independent if the dependence test shows that its iterations, or its
threads between two barriers, never meet. Where it cannot, runs decide on the inputs tried: one that
notes every access, and one in which these loops run backwards.
"""

from collections.abc import Sequence

import msgspec

from irkit.core import IRKitError, any_node, walk
from irkit.debug.check.comparison import difference_of
from irkit.debug.check.difference import Difference
from irkit.debug.check.verdict import Answer, LoopOrder
from irkit.debug.execution.executors import CallOutcome, OutcomeCache
from irkit.debug.execution.inputs import InputSet
from irkit.debug.execution.orders import backwards, has_no_order
from irkit.ir import Evaluate, For, PrimFunc, Race, StepLimit, find_race
from irkit.ir.threads import (
    LoopIndependence,
    independence,
    is_barrier,
    is_thread_loop,
    outermost_nests,
)

RACE_STEPS = 20_000
MAX_INPUTS = 2


def is_concurrent(func: PrimFunc) -> bool:
    """Return True if a function has loops whose iterations have no order."""
    return any_node(func, For, has_no_order)


def _has_threads(func: PrimFunc) -> bool:
    return any_node(func, For, is_thread_loop)


def _kind(loop: For) -> str:
    if loop.kind != "thread":
        return loop.kind
    return "threads" if is_thread_loop(loop) else "blocks"


def _inner_threads(loop: For) -> list[For]:
    """Return the other loops of the nest of threads that a loop begins, if it does."""
    inner = walk(loop.body, For) if is_thread_loop(loop) else ()
    return [each for each in inner if is_thread_loop(each)]


def _nest_of(func: PrimFunc, inner: For) -> For:
    """Return the outermost thread loop around a thread loop."""
    nests = outermost_nests(func.body)
    return next((nest for nest in nests if any(loop is inner for loop in walk(nest, For))), inner)


def _barriers(func: PrimFunc) -> int:
    return sum(is_barrier(stmt) for stmt in walk(func.body, Evaluate))


class _Races(msgspec.Struct):
    """The races of one function: between threads of a nest, and all others."""

    func: PrimFunc
    others: Race | None = None
    threads: Race | None = None


class RaceSearch:
    """A search for races on sets of inputs; each function is searched once.

    A step is only to blame for a race that was not there before it. Threads run in lockstep until
    a pass puts barriers between them: steps of a schedule do not race. Threads that a pass makes of
    other loops only race inside of one statement, where no barrier can be put. Unless ``thorough``,
    functions whose loops are all independent are not run.
    """

    def __init__(self, inputs: Sequence[InputSet], *, thorough: bool = True) -> None:
        self.inputs, self.thorough = inputs, thorough
        self._known: dict[int, _Races] = {}

    def new_race(
        self, before: PrimFunc, after: PrimFunc, *, scheduling: bool = False
    ) -> Race | None:
        """Return a race of ``after`` that ``before`` does not have."""
        found = self._races_of(after)
        if found.others is not None and self._races_of(before).others is None:
            return found.others
        if found.threads is None or scheduling:
            return None
        apart = found.threads.first.stmt is not found.threads.second.stmt
        if not _has_threads(before):
            return None if apart else found.threads
        if self._races_of(before).threads is None:
            return found.threads
        if _nest_of(after, found.threads.loop) in outermost_nests(before.body):
            return None  # It was there before the step.
        # Barriers were put in, and one is missing.
        added = _barriers(after) > _barriers(before)
        return found.threads if added and apart else None

    def has_race(self, func: PrimFunc) -> bool:
        """Return True if two iterations, or two threads, meet."""
        races = self._races_of(func)
        return races.others is not None or races.threads is not None

    def given_race(self, func: PrimFunc) -> Race | None:
        """Return a race that leaves a function without a meaning.

        Threads may be in lockstep, and lanes only become a vector if they never meet.
        """
        found = self._races_of(func).others
        return None if found is None or found.kind == "vectorized" else found

    def orders(
        self, before: PrimFunc, after: PrimFunc, *, scheduling: bool = False
    ) -> tuple[LoopOrder, ...]:
        """Return what is known of the loops that a step made or changed, but not of threads in
        lockstep, nor of loops that were carried before the step."""
        if not is_concurrent(after):
            return ()
        old = {each.loop for each in independence(before)}
        carried = [self._order(before, each) for each in independence(before)]
        known = {(each.kind, each.loop) for each in carried if each.answer == "carried"}
        races = self._races_of(after).threads is not None
        lockstep = races and self._lockstep(before, scheduling)
        found = [
            self._order(after, each)
            for each in independence(after)
            if each.loop not in old and not (lockstep and is_thread_loop(each.loop))
        ]
        return tuple(each for each in found if (each.kind, each.loop) not in known)

    def _lockstep(self, before: PrimFunc, scheduling: bool) -> bool:
        """Return True if the threads after a step are, as far as is known, in lockstep still."""
        races = self._races_of(before).threads is not None
        return scheduling or not _has_threads(before) or races

    def _order(self, func: PrimFunc, each: LoopIndependence) -> LoopOrder:
        loop = each.loop
        races = self._races_of(func)
        own = {loop, *_inner_threads(loop)}
        for race in (races.others, races.threads):
            if race is not None and race.loop in own:
                return LoopOrder(_kind(race.loop), race.loop.var.name, "carried", str(race))
        answer: Answer = "independent" if each.holds else "not known"
        return LoopOrder(_kind(loop), loop.var.name, answer, each.reason)

    def order_matters(
        self, runs: OutcomeCache, before: PrimFunc, after: PrimFunc, *, scheduling: bool = False
    ) -> dict[str, object] | None:
        """Run the loops that may not be independent backwards, on all inputs; return fields of a
        verdict if ``after`` then gives other results, and ``before`` does not."""
        lockstep = self._lockstep(before, scheduling)
        turned, named = _turned(after, lockstep)
        if turned is None:
            return None
        for number, inputs in enumerate(self.inputs):
            try:
                found = _backwards_result(runs, after, turned, number)
                if found is None or _differs_too(runs, before, number, lockstep):
                    continue
            except StepLimit:
                continue
            return {
                "status": "races",
                "inputs": inputs.name,
                "how": runs.executor.how,
                "message": f"results depend on the order of {named}: {found}",
            }
        return None

    def _races_of(self, func: PrimFunc) -> _Races:
        if id(func) not in self._known:
            self._known[id(func)] = self._searched(func)
        return self._known[id(func)]

    def _searched(self, func: PrimFunc) -> _Races:
        races = _Races(func)
        if not is_concurrent(func):
            return races
        if not self.thorough and all(each.holds for each in independence(func)):
            return races
        found = self._first(func, threads=True)
        if found is None or not is_thread_loop(found.loop):
            races.others = found
        else:
            races.threads, races.others = found, self._first(func, threads=False)
        return races

    def _first(self, func: PrimFunc, *, threads: bool) -> Race | None:
        # Of a long run the first steps are seen, which other values hardly change.
        for inputs in self.inputs[: MAX_INPUTS if self.thorough else 1]:
            try:
                found = find_race(func, *inputs.copied(), max_steps=RACE_STEPS, threads=threads)
            except IRKitError:  # Too long, or it fails, which the comparison reports.
                continue
            if found is not None:
                return found
        return None


def _turned(func: PrimFunc, lockstep: bool) -> tuple[PrimFunc | None, str]:
    """Return the function with the loops backwards that may not be independent, and their names."""
    unknown = [each.loop for each in independence(func) if not each.holds]
    loops = {
        inner.var
        for loop in unknown
        for inner in (loop, *_inner_threads(loop))
        if not (lockstep and is_thread_loop(inner))
    }
    if not loops:
        return None, ""
    names = ", ".join(sorted({repr(var.name) for var in loops}))
    return backwards(func, lambda loop: loop.var in loops), names


def _differs_too(runs: OutcomeCache, before: PrimFunc, number: int, lockstep: bool) -> bool:
    turned, _ = _turned(before, lockstep)
    return turned is not None and _backwards_result(runs, before, turned, number) is not None


def _backwards_result(
    runs: OutcomeCache, func: PrimFunc, turned: PrimFunc, number: int
) -> str | None:
    """Return how the results differ, if so. Raises: StepLimit."""
    other = runs.executor.run(turned, runs.inputs[number].copied())
    return _apart(func, runs.outcome(func, number), other)


def _apart(func: PrimFunc, usual: CallOutcome, other: CallOutcome) -> str | None:
    if usual.error:
        return None
    if other.error:
        return f"backwards it fails: {other.error}"
    result = difference_of(func, usual.arrays, other.arrays, [None] * len(usual.arrays))
    apart = result["error"]
    assert isinstance(apart, Difference)
    if apart.at is None:
        return None
    at = ", ".join(map(str, apart.at))
    return f"{result['buffer']}[{at}] is {apart.expected}, and {apart.found} backwards"
