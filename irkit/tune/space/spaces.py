"""Spaces: which decisions there are, and the loops that decisions make.

A decision is a value by a name: ``C.sketch`` and ``C.rows`` are about the block ``C``, ``x.stage``
is about where stage ``x`` is computed. What is not decided, the standard rules decide: no decisions
at all are the default.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import msgspec

from irkit.autoschedule import (
    Directions,
    Machine,
    Rule,
    automatic_schedule,
    blocks_of,
    directed_schedule,
    epilogue_of,
    inline_stages,
    operations,
    own_loops,
)
from irkit.core import ScheduleError
from irkit.ir import Block, PrimFunc, as_int, verify
from irkit.schedule import BlockRef, Schedule, ScheduleTrace, only_store, reads_of
from irkit.tune.cost import TileWork, cycles_of_pointwise, work_of_block
from irkit.tune.records import Values
from irkit.tune.space.lanes_sketch import lanes_sketches
from irkit.tune.space.pointwise_sketch import pointwise_sketches, split_shifted
from irkit.tune.space.product_sketches import product_sketches
from irkit.tune.space.sketch import AutoSketch, Draws, Group, Sketch
from irkit.tune.space.thread_sketch import THREADS, ThreadSketch, thread_group
from irkit.tune.space.tile_sketch import tile_sketches
from irkit.tune.templates import Template

_SMALL = 0.02
"""Share of all operations below which nothing is decided about a block."""
_MOST_STAGES = 6
_STAGE_STRIPS = (4, 16, 64)
"""Iterations of the reader's loop for which a stage is computed at once."""


class Candidate(msgspec.Struct, frozen=True, eq=False):
    """Loops to compile, and the steps that made them (none if they are as written)."""

    func: PrimFunc
    trace: ScheduleTrace


class Space(Protocol):
    """A set of decisions about a function."""

    name: str
    func: PrimFunc
    """The loops as nobody has scheduled them."""

    @property
    def stages(self) -> Mapping[str, tuple[Any, ...]]:
        """Decisions that come first, because the others depend on them."""
        ...

    def groups(self, values: Mapping[str, Any]) -> tuple[Group, ...]:
        """Return what else is to be decided, after the first decisions in ``values``.

        Raises: ScheduleError if those are not legal.
        """
        ...

    def derive(self, values: Mapping[str, Any]) -> Candidate:
        """Return the loops that decisions make.

        Raises: ScheduleError, with the reason, if they are not legal.
        """
        ...


class RuleSpace:
    """The space of a function that nobody has scheduled: sketches of each block that matters."""

    name = "rules"

    def __init__(self, func: PrimFunc, machine: Machine, threads: int = 1) -> None:
        self.func, self.machine, self.threads = func, machine, threads
        self._known: dict[tuple[tuple[str, str], ...], tuple[Group, ...]] = {}
        self._stages: dict[str, tuple[Any, ...]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return RuleSpace, (self.func, self.machine, self.threads)

    @property
    def stages(self) -> Mapping[str, tuple[Any, ...]]:
        """Where each pointwise stage that others read is computed."""
        if self._stages is None:
            self._stages = self._places()
        return self._stages

    def _places(self) -> dict[str, tuple[Any, ...]]:
        sch = Schedule(self.func, check="off")
        found: dict[str, tuple[Any, ...]] = {}
        for block in blocks_of(sch):
            store = only_store(block)
            readers = [] if store is None else reads_of(self.func, store.buffer)
            others = [each for each in readers if each.name != block.name]
            if store is not None and others and len(found) < _MOST_STAGES:
                loops = [sch.loop(each) for each in sch.get_loops(BlockRef(others[0].name))][:3]
                places = [f"at {at}" for at in range(len(loops))]
                places += [
                    f"at {at} by {size}"
                    for at, loop in enumerate(loops[:2])
                    for size in _STAGE_STRIPS
                    if size < (as_int(loop.end) or 0)
                ]
                own = ("inline", "root") if block.init is None else ()
                found[f"{block.name}.stage"] = ("auto", *own, *places)
        return found

    def groups(self, values: Mapping[str, Any]) -> tuple[Group, ...]:
        first = {key: str(each) for key, each in values.items() if key.endswith(".stage")}
        key = tuple(sorted(each for each in first.items() if each[1] != "auto"))
        if key not in self._known:
            sch = Schedule(self.func, check="off")
            _place_stages(sch, dict(key))
            whole = operations(sch.func.body) or 1
            blocks = blocks_of(sch)
            ends = {name for each in blocks if (name := _epilogue(sch, each))}
            self._known[key] = tuple(
                group
                for block in blocks
                if block.name not in ends
                and (group := _group(sch, block, self.machine, whole, self.threads)) is not None
            )
            if self.threads > 1 and THREADS not in {block.name for block in blocks}:
                self._known[key] += (thread_group(),)
        return self._known[key]

    def derive(self, values: Mapping[str, Any]) -> Candidate:
        first = {key: str(each) for key, each in values.items() if key.endswith(".stage")}
        rules: dict[str, Rule] = {}
        threads: Callable[[Schedule], None] | None = None
        for group in self.groups(values):
            sketch, setting = setting_of(group, values)  # Older records have fewer knobs.
            whole = {knob: options[0] for knob, options in sketch.knobs.items()} | setting
            rule = sketch.rule(whole)
            if rule is not None:
                rules[group.name] = rule
            if isinstance(sketch, ThreadSketch):
                threads = partial(sketch.mark, setting=whole)
        moved = {key: each for key, each in first.items() if each != "auto"}
        if not rules and not moved and threads is None:
            made = automatic_schedule(self.func, self.machine)
            if made is None:
                return Candidate(self.func, ScheduleTrace())
            return Candidate(made.func, made.trace)
        directions = Directions(lambda sch: _place_stages(sch, moved), rules, threads)
        return checked(directed_schedule(self.func, self.machine, directions))


class TemplateSpace:
    """The space of a template: its knobs, all of which are decided together."""

    name = "template"

    def __init__(
        self,
        template: Template,
        args: tuple[Any, ...],
        func: PrimFunc,
        machine: Machine,
        threads: int = 1,
    ) -> None:
        self.template, self.args, self.func = template, args, func
        self.machine, self.threads = machine, threads
        self._groups: tuple[Group, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.template, self.args, self.func, self.machine, self.threads)
        return TemplateSpace, given

    @property
    def stages(self) -> Mapping[str, tuple[Any, ...]]:
        return {}

    def groups(self, values: Mapping[str, Any]) -> tuple[Group, ...]:
        if not self._groups:
            config = self.template.run(self.args).config
            knobs = {name: knob.values for name, knob in config.knobs.items()}
            self._groups = (Group("", (AutoSketch(1.0), KnobSketch(knobs))),)
        return self._groups

    def derive(self, values: Mapping[str, Any]) -> Candidate:
        if not values:  # The default, which a template races, too.
            return RuleSpace(self.func, self.machine, self.threads).derive({})
        made = self.template.run(self.args, dict(values)).schedule
        if made is None:
            raise ScheduleError(f"{self.template.where} has no schedule")
        return checked(made)


class TraceSpace:
    """The space of one recorded schedule: whatever is decided, its steps are replayed."""

    name = "trace"

    def __init__(self, func: PrimFunc, trace: str) -> None:
        self.func, self.trace = func, trace

    def __reduce__(self) -> tuple[Any, ...]:
        return TraceSpace, (self.func, self.trace)

    @property
    def stages(self) -> Mapping[str, tuple[Any, ...]]:
        return {}

    def groups(self, values: Mapping[str, Any]) -> tuple[Group, ...]:
        return ()

    def derive(self, values: Mapping[str, Any]) -> Candidate:
        if not values:
            return RuleSpace(self.func, Machine()).derive({})
        sch = Schedule(self.func)
        sch.replay(ScheduleTrace.from_json(self.trace))
        return Candidate(sch.func, sch.trace)


class KnobSketch(msgspec.Struct, frozen=True, eq=False):
    """All knobs of a template, about which nothing is known."""

    choices: dict[str, tuple[Any, ...]]
    first: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return "knobs"

    @property
    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        return self.choices

    @property
    def start(self) -> Mapping[str, Any] | None:
        return self.first

    @property
    def draws(self) -> Draws:
        return Draws()

    def allows(self, setting: Mapping[str, Any]) -> bool:
        return True

    def cycles(self, setting: Mapping[str, Any]) -> float:
        return 1.0

    def rule(self, setting: Mapping[str, Any]) -> Rule | None:
        return None


def setting_of(group: Group, values: Mapping[str, Any]) -> tuple[Sketch, dict[str, Any]]:
    """Return the sketch that values choose for a group, and the values of its knobs."""
    if not group.name:
        sketch = group.sketch("knobs" if values else "auto")
        return sketch, {key: values[key] for key in sketch.knobs if key in values}
    sketch = group.sketch(str(values.get(f"{group.name}.sketch", "auto")))
    return sketch, {
        knob: values[f"{group.name}.{knob}"]
        for knob in sketch.knobs
        if f"{group.name}.{knob}" in values
    }


def named(group: Group, sketch: Sketch, setting: Mapping[str, Any]) -> Values:
    """Return the decisions that choose a sketch and the values of its knobs."""
    if sketch.name == "auto":
        return {}
    if not group.name:
        return dict(setting)
    return {f"{group.name}.sketch": sketch.name} | {
        f"{group.name}.{knob}": value for knob, value in setting.items()
    }


def checked(sch: Schedule) -> Candidate:
    """Return the candidate of a schedule. Raises: ScheduleError if its loops are not valid."""
    problems = verify(sch.func)
    if problems:
        raise ScheduleError(f"the scheduled loops are invalid: {problems[0]}")
    return Candidate(sch.func, sch.trace)


def _place_stages(sch: Schedule, moved: Mapping[str, str]) -> None:
    """Inline stages, or compute them at a loop of the first that reads them, or for a strip of its
    iterations."""
    own = {key.removesuffix(".stage"): place for key, place in moved.items()}
    for name, place in own.items():
        if place == "inline":
            sch.compute_inline(BlockRef(name))
    inline_stages(sch, kept=frozenset(own))
    for name, place in reversed(own.items()):
        if place.startswith("at "):
            ref = BlockRef(name)
            readers = sch.get_consumers(ref)
            loops = sch.get_loops(readers[0]) if readers else []
            at, _, size = place.removeprefix("at ").partition(" by ")
            if int(at) >= len(loops):
                raise ScheduleError(f"block {name!r} has no reader inside {int(at) + 1} loops")
            loop = loops[int(at)]
            sch.compute_at(ref, split_shifted(sch, loop, [None, int(size)])[0] if size else loop)


def _epilogue(sch: Schedule, block: Block) -> str:
    """Return the name of the block that is scheduled with a reduction; empty if there is none."""
    store = only_store(block)
    found = None if block.init is None or store is None else epilogue_of(sch, block, store)
    return "" if found is None else found.name


def _shared_loops(sch: Schedule, block: Block) -> int:
    """Return how many of the loops around a block contain others, or are not loops of its axes."""
    loops = sch.get_loops(BlockRef(block.name))
    shared = sum(len(sch.get_child_blocks(loop)) > 1 for loop in loops)
    return max(shared, len(loops) - len(block.axes))


def _group(sch: Schedule, block: Block, machine: Machine, whole: int, threads: int) -> Group | None:
    """Return the sketches of a block, the standard rules first; None if it hardly matters."""
    work = work_of_block(block)
    if work is None:
        return None
    repeated = max(1.0, _iterations(sch, block) / max(1, work.points))
    if work.points * repeated < _SMALL * whole:
        return None
    shared = _shared_loops(sch, block)
    own: list[Sketch] = []
    if not shared:
        own += product_sketches(block, machine)
    if not shared or own_loops(sch, block) is not None:
        own += tile_sketches(sch, block, machine, shared)
    if not shared:
        own += lanes_sketches(block, machine, threads)
    own += pointwise_sketches(block, machine, shared)
    if shared and work.reduced:  # No standard rule schedules it there.
        return Group(block.name, (AutoSketch(machine.latency * work.points), *own), repeated)
    usual = next((each.cycles(each.start) for each in own if each.start is not None), None)
    if usual is None:
        usual = _usual(block, work, machine)
    return Group(block.name, (AutoSketch(usual), *own), repeated)


def _iterations(sch: Schedule, block: Block) -> int:
    """Return how often a block runs."""
    loops = [sch.loop(each) for each in sch.get_loops(BlockRef(block.name))]
    return math.prod(as_int(loop.end) or 1 for loop in loops)


def _usual(block: Block, work: TileWork, machine: Machine) -> float:
    """Estimate the cycles of what the standard rules make of a block that has no such sketch."""
    names = list(work.spatial)
    lanes = max(1, machine.vector_bytes // 4)
    return cycles_of_pointwise(work, machine, names[-1], 1, lanes, {}) * work.steps
