"""Schedules of many loop functions: those that are kept, and the others by processes side by side,
where that is worth it. Each process schedules whole functions."""

from collections.abc import Sequence

from irkit.autoschedule import Machine, auto_schedule
from irkit.core import Recorder, current_recorder, recording, walk
from irkit.ir import Block, PrimFunc
from irkit.passes.graph.support.schedule_cache import (
    SCHEDULES,
    ScheduledFunction,
    decoded,
    encoded,
    schedule_key,
)
from irkit.processes import compile_jobs, side_by_side

FEWEST = 4
"""Functions below which one process schedules them."""


def scheduled(funcs: Sequence[PrimFunc], machine: Machine) -> list[PrimFunc]:
    """Return functions with the automatic schedule for a machine, in their order; what recorders
    get is in that order, too.

    Where times are asked for, or each application, all is done now, as a cache knows neither.
    """
    recorder = current_recorder()
    if recorder is not None and recorder.keep:
        return [auto_schedule(func, machine) for func in funcs]
    timed = recorder is not None and recorder.timed
    keys = [None if timed else schedule_key(func, machine) for func in funcs]
    found: dict[int, ScheduledFunction] = {}
    for at, key in enumerate(keys):
        kept = None if key is None else SCHEDULES.get(key, funcs[at])
        if kept is not None:
            found[at] = kept
    left = [at for at in range(len(funcs)) if at not in found]
    made: dict[int, bytes] = {}
    if len(left) >= FEWEST:
        order = sorted(left, key=lambda at: _effort(funcs[at]), reverse=True)
        made = side_by_side(
            lambda at: encoded(_schedule(funcs[at], machine, timed), funcs[at]),
            order,
            compile_jobs(),
        )
    for at in left:
        data, key = made.get(at), keys[at]
        if data is None:
            found[at] = _schedule(funcs[at], machine, timed)
        else:
            found[at] = decoded(data, funcs[at])
        if key is not None:
            SCHEDULES.put(key, encoded(found[at], funcs[at]) if data is None else data)
    every = [found[at] for at in range(len(funcs))]
    if recorder is not None:
        for each in every:
            recorder.remarks += each.remarks
            recorder.add_reports(each.reports)
            recorder.count += each.count
    return [each.func for each in every]


def _schedule(func: PrimFunc, machine: Machine, timed: bool) -> ScheduledFunction:
    recorder = Recorder(timed=timed)
    with recording(recorder):
        made = auto_schedule(func, machine)
    return ScheduledFunction(made, recorder.remarks, list(recorder.rules.values()), recorder.count)


def _effort(func: PrimFunc) -> int:
    """Return a number that grows with the time that a schedule takes: each block is looked at
    beside the others, so a softmax takes longer than a convolution with more arithmetic."""
    nodes = list(walk(func))
    return len(nodes) * sum(isinstance(node, Block) for node in nodes) ** 2
