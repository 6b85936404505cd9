"""Samples with a schedule: accepted primitives, between refused ones."""

from collections.abc import Sequence

import msgspec
import numpy as np

from irkit.core import IRKitError, Node, children, walk
from irkit.debug import InputSet
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.programs.program_samples import draw_limits, draw_stages
from irkit.fuzz.generators.programs.seed_functions import function_of_schedule
from irkit.fuzz.generators.sample import Sample, Unusable, outputs_of
from irkit.fuzz.generators.schedules.attempt import OFTEN, try_primitive, wrong_schedule
from irkit.fuzz.generators.schedules.draw_table import DRAWERS
from irkit.fuzz.generators.schedules.empty_ranges import (
    arguments_of,
    empty_range_function,
)
from irkit.fuzz.generators.seed_corpus.schedules import SCHEDULES
from irkit.fuzz.generators.stages.theme import INTEGERS, SMALL, WHOLE
from irkit.fuzz.picks import Picks
from irkit.ir import Block, For, PrimFunc, Stmt, as_int, interpret
from irkit.schedule import Schedule, ScheduleTrace

_MOST_STAGES = 4
_MOST_STEPS = 8
_PATIENCE = 40
_MOST_BLOCKS = 16
_MOST_ITERATIONS = 30_000
_SYMBOLIC = 8
_SEEDS = 1 << 16
_THEMES = (SMALL, WHOLE, SMALL, INTEGERS)
# Marks and storage primitives that work together seldom meet when all are drawn alike.
_THREADS = (
    *("bind", "bind", "split", "bind", "cache_write", "bind", "fuse", "compute_at", "set_scope"),
    *("cache_read", "rfactor", "reorder"),
)
_STORAGE = (
    *("compute_at", "double_buffer", "cache_read", "split", "cache_write", "rolling_buffer"),
    *("set_scope", "storage_align", "reverse_compute_at", "vectorize", "unroll"),
)
_POOLS: tuple[Sequence[str], ...] = (OFTEN, _THREADS, OFTEN, _STORAGE, tuple(DRAWERS))


def with_schedule(sample: Sample, picks: Picks) -> Sample:
    """Draw a schedule of up to 8 primitives for a program.

    Raises: WrongSchedule if a primitive is refused but changes something, or fails in another way.
    """
    assert isinstance(sample.ir, PrimFunc)
    trace, features = draw_trace(sample.ir, picks, picks.pick(_POOLS))
    if not trace.steps:
        raise Unusable("no primitive was accepted")
    return msgspec.structs.replace(
        sample, kind="schedules", schedule=trace, features=(*sample.features, *features)
    )


def draw_small_stages(picks: Picks) -> Sample:
    """Draw a program of stages to be scheduled."""
    return draw_stages(picks, picks.pick(_THEMES), _MOST_STAGES)


def draw_empty_ranges(picks: Picks) -> Sample:
    """Draw a program to be scheduled whose loops may be empty, called at sizes where they are."""
    func, sizes = empty_range_function(picks)
    return Sample(
        "programs",
        func,
        draw_limits(picks),
        inputs=tuple(
            InputSet(f"n={n}, m={m}", "whole numbers", arguments_of(n, m, picks.below(_SEEDS)))
            for n, m in sizes
        ),
        expected=(None,) * len(sizes),
        allowed=((None,) * len(outputs_of(func)),) * len(sizes),
        features=(*features_of(func), "rung:empty ranges"),
        sound=True,
    )


def draw_seed_schedule(picks: Picks) -> Sample:
    """Take the first steps of a schedule of the seed corpus. It is legal, and shows a primitive
    that refuses too much, which no random schedule can.

    Raises: WrongSchedule if one is refused.
    """
    name = picks.pick(list(SCHEDULES))
    found, steps = function_of_schedule(name), SCHEDULES[name][1]
    steps = steps[: 1 + picks.below(len(steps))]
    assert found is not None
    func, inputs = found.func, found.arguments(picks)
    sch, features = Schedule(func, check="off"), dict[str, None]()
    for primitive, action in steps:
        try:
            action(sch)
        except Exception as error:
            if _differ(func, sch.func, inputs):
                break  # An earlier step is wrong already, and will be found.
            said = error.message if isinstance(error, IRKitError) else repr(error)
            raise wrong_schedule(
                f"it is legal, but failed: {said}", sch, primitive, func
            ) from error
        features[f"primitive:{primitive}"] = None
    return Sample(
        "schedules",
        func,
        draw_limits(picks),
        schedule=sch.trace,
        inputs=(inputs,),
        expected=(None,),
        allowed=((None,) * len(outputs_of(func)),),
        features=(*features_of(func), *features, *features_of(sch.func), "rung:whole loops"),
    )


def _differ(func: PrimFunc, scheduled: PrimFunc, inputs: InputSet) -> bool:
    """Return True if the interpreter computes other results, or fails."""
    before, after = inputs.copied(), inputs.copied()
    interpret(func, *before)
    try:
        interpret(scheduled, *after)
    except IRKitError:
        return True
    pairs = ((before[place], after[place]) for place in outputs_of(func))
    return not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def draw_trace(
    func: PrimFunc, picks: Picks, names: Sequence[str], most: int = _MOST_STEPS
) -> tuple[ScheduleTrace, tuple[str, ...]]:
    """Draw primitives from some names until enough were tried; return which were accepted and which
    refused. A step that would make the program long to run is dropped, with what follows it."""
    sch, features = Schedule(func, check="off"), dict[str, None]()
    kept, tries, more = sch.trace, 0, True
    while more or (not kept.steps and tries < _PATIENCE):
        if not all(any(True for _ in walk(sch.func, on=cls)) for cls in (For, Block)):
            break  # Nothing is left to work on.
        tries += 1
        name = picks.pick(names)
        accepted = try_primitive(sch, picks, name, func)
        if not _is_small(sch.func):
            break
        kept = sch.trace if accepted else kept
        features[f"{'primitive' if accepted else 'refused'}:{name}"] = None
        # One is as likely as any other number. Drawn after each, so that shrinking can leave one
        # out.
        more = more and tries < most and bool(picks.below(most - tries + 1))
    made = features_of(sch.func) if kept.steps else ()
    return kept, (*features, *made)


def _is_small(func: PrimFunc) -> bool:
    """Return True if a function executes few statements, with symbolic extents of 8."""
    blocks = total = 0
    stack: list[tuple[Node, int]] = [(func.body, 1)]
    while stack:
        node, times = stack.pop()
        if isinstance(node, For):
            begin, end = as_int(node.begin), as_int(node.end)
            extent = end - begin if begin is not None and end is not None else _SYMBOLIC
            stack.append((node.body, times * max(1, extent)))
            continue
        if isinstance(node, Block):
            blocks += 1
            total += times
        inner = (child for child in children(node) if isinstance(child, Stmt))
        stack.extend((child, times) for child in inner)
    return 0 < blocks <= _MOST_BLOCKS and total <= _MOST_ITERATIONS
