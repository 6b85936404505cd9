"""Compute all that one row of a result needs while the row is in the cache."""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.pointwise import vectorize_last
from irkit.autoschedule.rows.lanes import reduce_in_lanes, row_axis_of
from irkit.autoschedule.structure import blocks_of, spatial_axes
from irkit.core import ScheduleError
from irkit.ir import Block, Interval, Var, as_int, bounds, is_const, simplify
from irkit.schedule import BlockRef, LoopRef, Schedule

_MOST_HOSTS = 4

Points = tuple[int, tuple[str, ...]]
"""How often a block runs: the product of the constant extents, and the other extents as text."""


def schedule_row(sch: Schedule, block: Block, machine: Machine) -> None:
    """Schedule a reduction along rows, and with it the stages that make or read the same rows."""
    ref = BlockRef(block.name)
    row = _join_row(sch, ref)
    for each in [ref] if row is None else sch.get_child_blocks(row):
        now = sch.get(each)
        if now.init is not None:
            if row_axis_of(now) is not None:
                reduce_in_lanes(sch, each, machine)
        elif row is not None and sch.get_loops(each)[-1].var is not row.var:
            vectorize_last(sch, now, machine)


def _join_row(sch: Schedule, ref: BlockRef) -> LoopRef | None:
    """Move a reduction, and what else is needed there, into the loop over rows of the last stage
    that uses it; return that loop, or None if there is no such stage."""
    rank = len([axis for axis in spatial_axes(sch.get(ref)) if as_int(axis.extent) != 1])
    users = _users(sch, ref)
    for host in [each for each in reversed(blocks_of(sch)) if each.name in users][:_MOST_HOSTS]:
        loops = [
            loop
            for loop in sch.get_loops(BlockRef(host.name))
            if not is_const(sch.loop(loop).end, 1)
        ][:rank]
        if host.init is not None or not loops or len(loops) < rank:
            continue
        trial = Schedule(sch.func, check="off")
        try:
            moved = _pull(trial, loops[-1])
        except ScheduleError:
            continue
        if ref.name in moved:
            for name in moved:
                sch.compute_at(BlockRef(name), loops[-1])
            return loops[-1]
    return None


def _users(sch: Schedule, ref: BlockRef) -> set[str]:
    """Return the names of the stages that use what a block computes, directly or not."""
    found: set[str] = set()
    waiting = [ref]
    while waiting:
        for each in sch.get_consumers(waiting.pop()):
            if each.name not in found:
                found.add(each.name)
                waiting.append(each)
    return found


def _pull(sch: Schedule, row: LoopRef) -> list[str]:
    """Move under a loop each stage that only stages there read, and that is not computed more often
    then; return their names in that order.

    Raises: ScheduleError if a reduction there would be computed more often.
    """
    moved: list[str] = []
    left: set[str] = set()
    while (found := _next(sch, row, left)) is not None:
        before, trial = _points(sch, found), Schedule(sch.func, check="off")
        try:
            trial.compute_at(found, row)
        except ScheduleError:
            left.add(found.name)
            continue
        if _points(trial, found) != before:
            left.add(found.name)
            continue
        sch.compute_at(found, row)
        moved.append(found.name)
    return moved


def _next(sch: Schedule, row: LoopRef, left: set[str]) -> BlockRef | None:
    """Return a stage outside of a loop that only stages inside read."""
    inside = [each.name for each in sch.get_child_blocks(row)]
    for name in reversed(inside):
        for each in sch.get_producers(BlockRef(name)):
            if each.name in left or each.name in inside:
                continue
            if {reader.name for reader in sch.get_consumers(each)} <= set(inside):
                return each
    return None


def _points(sch: Schedule, ref: BlockRef) -> Points:
    total, others, ranges = 1, list[str](), dict[Var, Interval]()
    for each in (sch.loop(loop) for loop in sch.get_loops(ref)):
        extent = bounds(simplify(each.end - each.begin), ranges)
        if extent.high is None or extent.low != extent.high:
            others.append(str(each.end))
            continue
        size = extent.high
        total *= size
        if is_const(each.begin, 0):  # Where a loop runs once, its variable is known.
            ranges[each.var] = Interval(0, size - 1)
    return total, tuple(sorted(others))
