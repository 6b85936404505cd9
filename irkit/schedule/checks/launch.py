"""Check the thread loops of a launch: extents and nesting."""

from irkit.core import ScheduleError, walk
from irkit.ir import For, PrimFunc, Stmt, eq, loop_ranges, prove
from irkit.schedule.state.lookup import path_to

THREAD_AXES = (
    *(f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz"),
    *("vthread", "vthread.x", "vthread.y", "vthread.z"),
)


def check_launches(func: PrimFunc, root: Stmt, what: str) -> None:
    """Check all launches that contain loops below a statement."""
    for loop in list(walk(root, on=For)):
        if loop.thread:
            check_launch(func, loop, what)


def check_launch(func: PrimFunc, loop: For, what: str) -> None:
    """Check that a new thread loop can be in one launch with those around and below it."""
    around = [stmt for stmt in path_to(func, loop) if isinstance(stmt, For) and stmt.thread]
    for outer in around[:-1]:
        _check_nested(outer, loop, loop, what)
    for inner in walk(loop.body, on=For):
        if inner.thread:
            _check_nested(loop, inner, loop, what)
    ranges, extents = loop_ranges(func), dict[str, For]()
    for each in walk(around[0], on=For):
        if each.thread and not each.thread.startswith("vthread"):
            other = extents.setdefault(each.thread, each)
            if not prove(eq(each.end, other.end), ranges):
                raise ScheduleError(
                    f"cannot {what}: {each.thread} would have two extents in one launch, from "
                    f"{other.var.name!r} and {each.var.name!r}",
                    at=loop,
                )


def _check_nested(outer: For, inner: For, at: For, what: str) -> None:
    if outer.thread == inner.thread and not inner.thread.startswith("vthread"):
        raise ScheduleError(
            f"cannot {what}: {outer.var.name!r} around {inner.var.name!r} would be bound to the "
            "same axis",
            at=at,
        )
    if inner.thread.startswith("blockIdx") and not outer.thread.startswith("blockIdx"):
        raise ScheduleError(
            f"cannot {what}: {inner.thread} of {inner.var.name!r} would be inside "
            f"{outer.thread} of {outer.var.name!r}, but blocks contain threads",
            hint="Reorder the loops first.",
            at=at,
        )
