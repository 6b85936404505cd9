"""Drawn legal schedules and their lowering, searched for races after each step: none may be found.

A loop that is called independent must not race either. `race_trials([number])` repeats one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec

from irkit import te
from irkit.core import walk
from irkit.debug import InterpreterExecutor, RaceSearch, input_sets, is_concurrent
from irkit.debug.execution.executors import OutcomeCache
from irkit.fuzz.generators.schedules.attempt import OFTEN, try_primitive
from irkit.fuzz.generators.stages.stage_tensors import stage_tensors
from irkit.fuzz.picks import Picks, picks_of
from irkit.ir import Block, For, PrimFunc
from irkit.ir.threads import independence
from irkit.phases import DEFAULT
from irkit.schedule import Schedule
from irkit.transform import PassFailed
from tests.fuzz.generators.schedules.trials import FIXED

_MARKS = ("parallel", "parallel", "bind", "bind", "vectorize")
_MOST_BLOCKS = 24
_MOST_STEPS = 100_000
Pair = tuple[str, PrimFunc, PrimFunc, bool]


class RaceTally(msgspec.Struct):
    """How many schedules were drawn and searched, what is known of their loops, and the alarms by
    number."""

    schedules: int = 0
    concurrent: int = 0
    steps: int = 0
    answers: Counter[str] = msgspec.field(default_factory=Counter[str])
    alarms: dict[int, str] = {}

    def add(self, other: "RaceTally") -> None:
        """Add the counts of another tally."""
        self.schedules += other.schedules
        self.concurrent += other.concurrent
        self.steps += other.steps
        self.answers.update(other.answers)
        self.alarms.update(other.alarms)


def race_trials(numbers: Iterable[int], *, lower_one_in: int = 1) -> RaceTally:
    """Try the schedules of some numbers, and go on after an alarm."""
    tally = RaceTally()
    for number in numbers:
        _try(number, tally, lowered=number % lower_one_in == 0)
    return tally


def _try(number: int, tally: RaceTally, *, lowered: bool) -> None:
    picks = picks_of(number)
    func = picks.pick(FIXED) if picks.one_in(8) else te.create_prim_func(stage_tensors(picks))
    inputs = input_sets(func, samples=2)
    search = RaceSearch(inputs)
    runs = OutcomeCache(InterpreterExecutor(_MOST_STEPS), inputs)
    tally.schedules += 1
    seen = False
    for name, before, after, scheduling in _steps(picks, func, lowered):
        if not is_concurrent(after):
            continue
        seen = True
        tally.steps += 1
        race = search.new_race(before, after, scheduling=scheduling)
        turned = search.order_matters(runs, before, after, scheduling=scheduling)
        if race is not None or turned is not None:
            tally.alarms[number] = f"{name}: {race or turned}\n{after.script()}"
            break
        orders = search.orders(before, after)
        tally.answers.update(each.answer for each in orders)
        carried = [each.loop for each in orders if each.answer == "carried"]
        false = [
            each for each in independence(after) if each.holds and each.loop.var.name in carried
        ]
        if false:
            tally.alarms[number] = (
                f"{name}: called independent: {false[0].loop.var}\n{after.script()}"
            )
            break
    tally.concurrent += seen


def _steps(picks: Picks, func: PrimFunc, lowered: bool) -> Iterator[Pair]:
    sch = Schedule(func, check="off")
    for _ in range(1 + picks.below(14)):
        name = picks.pick(_MARKS) if picks.one_in(3) else picks.pick(OFTEN)
        loops, blocks = (sum(1 for _ in walk(sch.func, on=kind)) for kind in (For, Block))
        if not loops or not blocks or blocks > _MOST_BLOCKS:
            break
        before = sch.func
        if try_primitive(sch, picks, name, func) and sch.func is not before:
            yield name, before, sch.func, True
    if not lowered:
        return
    with suppress(PassFailed):
        for step in DEFAULT.steps(sch.func, verify=False):
            if step.changed:
                assert isinstance(step.before, PrimFunc)
                assert isinstance(step.after, PrimFunc)
                yield step.name, step.before, step.after, False
