"""Drawn programs with a loop marked parallel, or without a barrier, and what runs say of them."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from irkit.core import IRKitError, walk
from irkit.debug import InputSet, input_sets
from irkit.fuzz.generators.loops.loop_functions import loop_function, thread_function
from irkit.fuzz.picks import picks_of
from irkit.ir import Evaluate, For, PrimFunc, Race, find_race, replace_stmts, seq, verify
from irkit.ir.threads import is_barrier, is_thread_loop
from irkit.proof import LoopRaces, check_races

MOST_STEPS = 20_000
MOST_CHANGES = 6


class PlantedTally(msgspec.Struct):
    """How many loops had each answer, how many races runs found, and the loops that are called
    independent and race, or carried without a race that a run shows."""

    answers: Counter[str] = msgspec.field(default_factory=Counter[str])
    hows: Counter[str] = msgspec.field(default_factory=Counter[str])
    races: int = 0
    missed: list[str] = []


def planted_trials(numbers: Iterable[int]) -> PlantedTally:
    """Try the programs of some numbers."""
    tally = PlantedTally()
    for number in numbers:
        picks = picks_of(number)
        func = thread_function(picks) if picks.one_in(2) else loop_function(picks)
        try:
            inputs = input_sets(func, samples=2)[:4]
        except IRKitError:
            continue
        for made in _changed(func):
            _judge(made, inputs, tally, number)
    return tally


def _changed(func: PrimFunc) -> Iterator[PrimFunc]:
    """Yield the function as it is, and with one change each."""
    found = [func]
    found += [
        replace_stmts(func, {loop: loop.replace(kind="parallel")})
        for loop in walk(func.body, For)
        if loop.kind in ("serial", "unrolled")
    ]
    found += [
        replace_stmts(func, {stmt: seq()}) for stmt in walk(func.body, Evaluate) if is_barrier(stmt)
    ]
    yield from [each for each in found if not verify(each)][:MOST_CHANGES]


def _judge(func: PrimFunc, inputs: Iterable[InputSet], tally: PlantedTally, number: int) -> None:
    known = check_races(func)
    tally.answers.update(each.status for each in known)
    tally.hows.update(each.how for each in known if each.status == "independent")
    for race in _races(func, inputs):
        tally.races += 1
        tally.missed += [
            f"{number}: {each}: {race}\n{func.script()}"
            for each in known
            if each.status == "independent" and race.loop in _loops(each)
        ]


def _loops(known: LoopRaces) -> set[For]:
    inner = [each for each in walk(known.loop.body, For) if is_thread_loop(each)]
    return {known.loop, *(inner if is_thread_loop(known.loop) else ())}


def _races(func: PrimFunc, inputs: Iterable[InputSet]) -> Iterator[Race]:
    for each in inputs:
        for threads in (True, False):
            try:
                race = find_race(func, *each.copied(), max_steps=MOST_STEPS, threads=threads)
            except IRKitError:
                continue
            if race is not None:
                yield race
