"""Check that the iterations of a loop are independent, and stay so around a copy."""

from irkit.core import ScheduleError, walk
from irkit.ir import Buffer, For, PrimFunc, Stmt, Store, dependences, trip_count, uses_of
from irkit.ir.analysis import memory_owners
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.state.lookup import blocks_below, path_to


def check_independent(func: PrimFunc, loop: For, what: str) -> None:
    for block in blocks_below(loop.body):
        for axis in block.axes:
            if axis.kind != "spatial" and loop.var in variables(axis.binding):
                raise ScheduleError(
                    f"cannot {what}: the {axis.kind} axis {axis.var.name!r} of block "
                    f"{block.name!r} uses it, so its iterations depend on each other",
                    hint="Use rfactor to split the reduction first.",
                    at=loop,
                )
    reason = dependences(func).carried(loop)
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=loop)


def check_whole_copy(func: PrimFunc, top: Stmt, buffer: Buffer, what: str) -> None:
    """Check that all of a buffer may be read before a statement: no iteration of a loop around it
    that has no order reads what another one writes.

    Threads are in lockstep until barriers are inserted. Raises: ScheduleError.
    """
    memory = uses_of(func).memory
    for loop in path_to(func, top)[:-1]:
        if not isinstance(loop, For) or trip_count(loop) == 1 or not _has_no_order(loop):
            continue
        owned = memory_owners(func).own(loop)
        stores = walk(loop.body, Store)
        if memory(buffer) not in owned and any(
            memory(store.buffer) is memory(buffer) for store in stores
        ):
            kind = "loop over blocks" if loop.kind == "thread" else f"{loop.kind} loop"
            raise ScheduleError(
                f"cannot {what}: the copy of {buffer.name!r} would read all of it, while other "
                f"iterations of the {kind} {loop.var.name!r} write it",
                hint="Use read_at, which copies what one iteration reads.",
                at=loop,
            )


def _has_no_order(loop: For) -> bool:
    is_block_loop = loop.kind == "thread" and loop.thread.startswith("blockIdx")
    return loop.kind in ("parallel", "vectorized") or is_block_loop
