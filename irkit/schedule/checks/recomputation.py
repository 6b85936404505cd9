"""Check that a block can be recomputed elsewhere: it is the only writer, initialises what it
writes, and is complete."""

from irkit.core import ScheduleError, walk
from irkit.ir import Block, Buffer, Expr, Load, PrimFunc, Stmt, Store, Var, View
from irkit.ir.analysis import same_place
from irkit.schedule.analysis.accesses import variables, writes_beside, written_by
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.injective import is_injective
from irkit.schedule.state.lookup import allocation, path_to


def check_producer(func: PrimFunc, block: Block, what: str) -> list[Buffer]:
    """Return what a block writes: intermediate buffers that no other block writes, without reading
    their earlier contents.

    Raises: ScheduleError if it does anything else.
    """
    written = check_only_writer(func, block, what)
    output = next((each for each in written if allocation(func, each) is None), None)
    if output is not None:
        raise ScheduleError(
            f"cannot {what}: it is an output block: it writes the parameter {output.name!r}",
            at=block,
        )
    return written


def check_only_writer(func: PrimFunc, block: Block, what: str) -> list[Buffer]:
    """Return the buffers that a block is the only one to write, without reading their earlier
    contents.

    Raises: ScheduleError if it does anything else.
    """
    written = sorted(written_by(block), key=lambda buffer: buffer.name)
    related = {id(stmt) for stmt in path_to(func, block)}
    related |= {id(each) for each in walk(block, on=Block)}
    for buffer in written:
        other = next((b for b in writes_beside(func, block, buffer) if id(b) not in related), None)
        if other is not None:
            raise ScheduleError(
                f"cannot {what}: block {other.name!r} also writes {buffer.name!r}", at=block
            )
    check_from_scratch(block, what)
    return written


def check_from_scratch(block: Block, what: str) -> None:
    """Check that a block does not depend on the earlier contents of the buffers it writes.

    Raises: ScheduleError if it reads other elements of them, or accumulates into them without an
    init.
    """
    reason = ""
    stores = list(walk(block, on=Store))
    written = written_by(block)
    if any(axis.kind == "opaque" for axis in block.axes):
        reason = "it has an opaque axis"
    elif not stores or any(isinstance(stmt, View) for stmt in walk(block, on=Stmt)):
        reason = "it writes memory other than by stores"
    loads = [load for load in walk(block, on=Load) if load.buffer in written]
    if not all(any(same_place(load, store) for store in stores) for load in loads):
        reason = "it reads other elements of what it writes"
    elif loads and block.init is None:
        reason = f"it accumulates into {loads[0].buffer.name!r} and has no init"
    reducing = {axis.var for axis in block.axes if axis.kind == "reduce"}
    spatial = [axis for axis in block.axes if axis.kind == "spatial"]
    for store in stores:
        if {var for at in store.indices for var in variables(at)} & reducing:
            reason = "where it stores depends on a reduce axis"
        elif not is_injective(store.indices, spatial):
            reason = "it cannot be proved that each point of its axes writes a different element"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)


def check_complete(points: Points, what: str) -> list[Expr]:
    """Return the predicate of a block as conditions over its axes.

    Raises: ScheduleError if its loops do not reduce each element exactly once over all reduce axes,
    or it uses loop variables other than through its axes.
    """
    block = points.block
    leaving = {loop.var for loop in points.loops}
    used = {var for stmt in (block.init, block.body) if stmt for var in walk(stmt, on=Var)}
    if used & leaving:
        raise ScheduleError(
            f"cannot {what}: it uses loop {next(iter(used & leaving)).name!r} other than through "
            "its axes",
            at=block,
        )
    if not points.reduces_completely():
        raise ScheduleError(
            f"cannot {what}: it cannot be proved that its loops reduce each element exactly once "
            "over all of its reduce axes",
            at=block,
        )
    return points.guards_by_axes(what)
