"""The primitive that takes a block out of the loops it was moved to: compute_root."""

import functools

from irkit.core import ScheduleError, Span
from irkit.ir import Allocate, PrimFunc, seq
from irkit.schedule.domain import Points, ranges_at
from irkit.schedule.move import check_complete, check_only_writer, regenerated
from irkit.schedule.order import (
    check_inputs_stay,
    check_readers_stay,
    check_visible,
    is_used,
    is_used_outside,
)
from irkit.schedule.state import (
    allocation,
    blocks_below,
    exchange,
    find_block,
    find_loop,
    loops_above,
    loops_to,
    remove,
    without_allocation,
)


def compute_root(func: PrimFunc, name: str) -> PrimFunc:
    """Move a block out of all loops that it shares with others, under loops over all of its axes.

    It stands in front of them if something there reads what it writes, else behind. A block that
    shares no loop stays.
    Raises: ScheduleError if another block could then see other values, or it is not shown that the
    block ran for all points of its axes and it writes a parameter.
    """
    block = find_block(func, name)
    what = f"move {name!r} to the root"
    loops = loops_above(func, block)
    if not loops or blocks_below(loops[0]) == [block]:
        return func
    top = loops[0]
    written = check_only_writer(func, block, what)
    points = Points(block, tuple(loops), ranges_at(func))
    guards = check_complete(points, what)
    outputs = [buffer for buffer in written if allocation(func, buffer) is None]
    if outputs and not points.all_points():
        raise ScheduleError(
            f"cannot {what}: it is not shown that it runs for all points of its axes, and "
            f"{outputs[0].name!r} is a parameter",
            at=block,
        )
    inside = [
        buffer
        for buffer in written
        if buffer not in outputs and not is_used_outside(func, {buffer}, top)
    ]
    rest = functools.reduce(without_allocation, inside, remove(func, block))
    top = find_loop(rest, top.var)
    above = loops_to(rest, top)[:-1]
    span = Span("schedule", "compute_root", parent=block.span)
    moved = regenerated(rest, block, {}, guards, above, span)
    body = seq(moved, top) if is_used(top, set(written)) else seq(top, moved)
    for buffer in inside:
        body = Allocate(buffer, body, span=span)
    made = exchange(rest, {top: body})
    check_visible(made, find_block(made, name), what)
    check_inputs_stay(func, made, name, what)
    check_readers_stay(func, made, name, what)
    return made
