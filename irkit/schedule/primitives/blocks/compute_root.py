"""The primitive compute_root: move a block out of the loops that it shares with others."""

import functools

from irkit.core import ScheduleError, Span
from irkit.ir import Allocate, PrimFunc, replace_stmts, seq
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.checks.order import (
    check_moved,
    is_used,
    is_used_outside,
)
from irkit.schedule.checks.recomputation import check_complete, check_only_writer
from irkit.schedule.rewrite.regenerate import regenerate
from irkit.schedule.state.lookup import (
    allocation,
    blocks_below,
    find_block,
    find_loop,
    loops_above,
    loops_to,
)
from irkit.schedule.state.replace import remove_block, without_allocation


def compute_root(func: PrimFunc, name: str) -> PrimFunc:
    """Move a block out of all loops that it shares with others, into loops over all of its axes.

    It goes before them if something there reads what it writes, otherwise after them. A block that
    shares no loop stays.
    Raises: ScheduleError if another block could then read other values, or if the block writes a
    parameter and cannot be proved to run at all points of its axes.
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
    if outputs and not points.covers_all_points():
        raise ScheduleError(
            f"cannot {what}: it writes the parameter {outputs[0].name!r} and cannot be proved to "
            "run at all points of its axes",
            at=block,
        )
    inside = [
        buffer
        for buffer in written
        if buffer not in outputs and not is_used_outside(func, {buffer}, top)
    ]
    rest = functools.reduce(without_allocation, inside, remove_block(func, block))
    top = find_loop(rest, top.var)
    above = loops_to(rest, top)[:-1]
    span = Span("schedule", "compute_root", parent=block.span)
    moved = regenerate(rest, block, {}, guards, above, span)
    body = seq(moved, top) if is_used(top, set(written)) else seq(top, moved)
    for buffer in inside:
        body = Allocate(buffer, body, span=span)
    made = replace_stmts(rest, {top: body})
    check_moved(func, made, name, what)
    return made
