"""The space of a schedule that samples: other decisions of its sampling instructions, replayed.

A schedule that calls ``sample_perfect_tile``, ``sample_categorical`` and the like records what was
drawn. Each such step is a knob here; a candidate is the same trace with other decisions. Which of
them are legal together, the primitives decide: what a later step refuses is a record.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

import msgspec

from irkit.autoschedule import Machine
from irkit.core import ScheduleError
from irkit.ir import PrimFunc
from irkit.schedule import Schedule, ScheduleTrace, TraceStep
from irkit.tune.space.sketch import AutoSketch, Group
from irkit.tune.space.spaces import Candidate, KnobSketch, RuleSpace, checked

_MOST_TILES = 400
"""Tiles of a loop that are in a space; of more, some, evenly."""
_MOST_LISTED = 50_000
_LOCATIONS = 6


class SampledSpace:
    """The decisions of the sampling instructions of a trace; ``where`` is the function that drew
    them first."""

    name = "sampled"

    def __init__(
        self, func: PrimFunc, trace: str, machine: Machine, threads: int = 1, where: str = ""
    ) -> None:
        self.func, self.trace, self.machine, self.threads = func, trace, machine, threads
        self.where = where
        steps = ScheduleTrace.from_json(trace).steps
        self._steps = steps
        self._drawn = {
            f"{at}:{step.primitive}": step
            for at, step in enumerate(steps)
            if step.drawn is not None and _choices(step)
        }
        knobs = {name: _choices(step) for name, step in self._drawn.items()}
        first = {name: _plain(step.drawn) for name, step in self._drawn.items()}
        self._groups = (Group("", (AutoSketch(1.0), KnobSketch(knobs, first))),)

    def __reduce__(self) -> tuple[Any, ...]:
        return SampledSpace, (self.func, self.trace, self.machine, self.threads, self.where)

    @property
    def stages(self) -> Mapping[str, tuple[Any, ...]]:
        return {}

    def groups(self, values: Mapping[str, Any]) -> tuple[Group, ...]:
        return self._groups

    def derive(self, values: Mapping[str, Any]) -> Candidate:
        if not values:
            return RuleSpace(self.func, self.machine, self.threads).derive({})
        unknown = sorted(set(values) - set(self._drawn))
        if unknown:
            raise ScheduleError(f"the schedule has no sampling step {unknown[0]!r}")
        steps = list(self._steps)
        for name, value in values.items():
            at = int(name.partition(":")[0])
            drawn = tuple(cast("list[int]", value)) if isinstance(value, (list, tuple)) else value
            steps[at] = msgspec.structs.replace(steps[at], drawn=drawn)
        sch = Schedule(self.func)
        for _ in sch.replaying(ScheduleTrace(tuple(steps))):
            pass
        return checked(sch)


def _choices(step: TraceStep) -> tuple[Any, ...]:
    """Return the decisions that a step could have drawn, that which it drew among them."""
    drawn = step.drawn
    options = dict(step.options)
    match step.primitive:
        case "sample_categorical":
            given = step.args[0] if step.args else options.get("candidates", ())
            return tuple(range(len(given))) if isinstance(given, tuple) else ()
        case "sample_compute_location":
            return tuple(range(-1, _LOCATIONS))
        case "sample_perfect_tile" | "sample_partitioned_tile" if isinstance(drawn, tuple):
            sizes = [each for each in drawn if isinstance(each, int)]
            most = math.prod(sizes)
            if step.primitive == "sample_perfect_tile":
                given = step.args[2] if len(step.args) > 2 else options.get("max_innermost_factor")
                most = max(given if isinstance(given, int) else 16, sizes[-1])
            tiles = islice(_tiles(math.prod(sizes), len(sizes)), _MOST_LISTED)
            found = [each for each in tiles if each[-1] <= most] or [sizes]
            part = found[:: -(-len(found) // _MOST_TILES)]
            return tuple(part if sizes in part else [*part, sizes])
        case _:
            return ()


def _tiles(extent: int, count: int) -> Iterator[list[int]]:
    """Yield the lists of so many factors whose product is an extent."""
    waiting: list[tuple[list[int], int]] = [([], extent)]
    while waiting:
        made, rest = waiting.pop()
        if len(made) == count - 1:
            yield [*made, rest]
            continue
        waiting += [([*made, each], rest // each) for each in _divisors(rest)]


def _divisors(number: int) -> list[int]:
    small = [each for each in range(1, math.isqrt(number) + 1) if number % each == 0]
    return small + [number // each for each in reversed(small) if each * each != number]


def _plain(drawn: object) -> Any:
    return list(cast("tuple[int, ...]", drawn)) if isinstance(drawn, tuple) else drawn
