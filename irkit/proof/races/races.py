"""Whether iterations of loops without an order, or threads between barriers, meet, for all inputs
and sizes."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal

import msgspec

from irkit.core import IRKitError, Span, deep_recursion, walk
from irkit.ir import For, MemoryLimit, PrimFunc, Race, StepLimit, find_race
from irkit.ir.threads import (
    BarrierFinder,
    LoopIndependence,
    independence,
    is_thread_loop,
    stands_twice,
)
from irkit.proof.accesses.witness import NoArguments, arguments
from irkit.proof.concrete import ModelValues
from irkit.proof.races.meetings import Meeting, ProvedConflicts, loop_meetings
from irkit.proof.races.places import AccessTable
from irkit.proof.solver import paused_collector, z3_module

RaceStatus = Literal["independent", "carried", "depends on data", "not known"]
MOST_MEETINGS = 3
"""Pairs that may meet, of one loop, for which the function is run."""
MOST_STEPS = 50_000
"""Steps of a run, which are slow where each access is noted."""
_WORST_FIRST: tuple[RaceStatus, ...] = ("carried", "depends on data", "not known")


class LoopRaces(msgspec.Struct, frozen=True):
    """What is known about one loop without an order, or a nest of threads by its outermost loop.

    ``independent``: no two iterations, or threads between two barriers, touch one element, one of
    them writing, for any arguments that the signature allows; ``how`` names what showed it.
    ``carried``: two do, for the arguments in ``message``. ``depends on data``: where they access
    was loaded, and ``message`` gives values for which two meet. ``not known``: ``message`` is the
    reason.
    """

    loop: For
    status: RaceStatus
    how: str = ""
    message: str = ""

    @property
    def kind(self) -> str:
        """Return what runs side by side."""
        if self.loop.kind != "thread":
            return self.loop.kind
        return "threads" if is_thread_loop(self.loop) else "blocks"

    @property
    def span(self) -> Span | None:
        """Return where the loop is."""
        return self.loop.span

    def __str__(self) -> str:
        where = "" if self.span is None else f"{self.span}: "
        why = f": {self.message}" if self.message else ""
        return f"{where}{self.kind} {self.loop.var.name!r}: {self.status}{why}"


@paused_collector
def check_races(func: PrimFunc) -> tuple[LoopRaces, ...]:
    """Return what is known about each parallel or vectorized loop, each loop over blocks and each
    nest of threads.

    The dependence test comes first, and z3 decides what it leaves open. Raises: IRKitError if z3 is
    not installed; ProofFault as ``prove_equal``.
    """
    z3 = z3_module()
    known = independence(func)
    if all(each.holds for each in known):
        return tuple(LoopRaces(each.loop, "independent", "dependence test") for each in known)
    checker = _Checker(func, z3.Context())
    return tuple(checker.result(each) for each in known)


class _Checker:
    def __init__(self, func: PrimFunc, context: Any) -> None:
        self.func, self.context = func, context
        self.table = AccessTable(func)

    def result(self, known: LoopIndependence) -> LoopRaces:
        loop = known.loop
        if known.holds:
            return LoopRaces(loop, "independent", "dependence test")
        if not is_thread_loop(loop):
            return self._worst(loop, loop_meetings(loop, self.table, self.context))
        if stands_twice(loop):
            return LoopRaces(loop, "not known", message=known.reason)
        conflicts = ProvedConflicts(self.func, loop, self.table, self.context)
        finder = BarrierFinder(conflicts)
        with deep_recursion:
            finder.visit(loop, ())
            meets = bool(finder.before) or finder.meet_inside()
        if not meets:
            return LoopRaces(loop, "independent", "z3")
        if not conflicts.meetings:
            return LoopRaces(loop, "not known", message=known.reason)
        return self._worst(loop, reversed(conflicts.meetings))

    def _worst(self, loop: For, meetings: Iterable[Meeting]) -> LoopRaces:
        """Return the worst of the first few meetings."""
        found: list[LoopRaces] = []
        for met in islice(meetings, MOST_MEETINGS):
            found.append(self._judged(loop, met))
            if found[-1].status == "carried":
                break
        if not found:
            return LoopRaces(loop, "independent", "z3")
        return min(found, key=lambda each: _WORST_FIRST.index(each.status))

    def _judged(self, loop: For, met: Meeting) -> LoopRaces:
        """Run the function on the values for which two accesses meet."""
        question, model = met.question, met.model
        if question is None or model is None:
            return LoopRaces(loop, "not known", message=met.reason)
        shown, given = question.shown(model), question.given(model)
        from_data = question.one.access.from_data or question.other.access.from_data
        status: RaceStatus = "depends on data" if from_data else "carried"
        own = {loop, *(each for each in walk(loop.body, For) if is_thread_loop(each))}
        runs = 0
        for race in _races(self.func, model):
            if race is not None and race.loop in own:
                return LoopRaces(loop, status, "interpreter", f"{race}{given}")
            runs += race is None
        if from_data:
            return LoopRaces(loop, "depends on data", message=shown + given)
        if not runs and not is_thread_loop(loop) and question.is_met(model):
            return LoopRaces(loop, "carried", "evaluation", shown + given)
        why = "not seen in a run" if runs else "nothing could be run"
        return LoopRaces(loop, "not known", message=f"perhaps {shown}{given} ({why})")


def _races(func: PrimFunc, model: ModelValues) -> Iterator[Race | None]:
    """Yield the race, or None, of each run on the arguments that a model stands for."""
    for varied in (False, True):
        try:
            args = arguments(func, model, varied=varied)
            yield find_race(func, *args, max_steps=MOST_STEPS, max_bytes=1 << 28)
        except (NoArguments, StepLimit, MemoryLimit):
            return
        except IRKitError:
            continue
