"""Choose the loops of a scheduled kernel to run on several threads.

Each outermost nest gets one: the first loop with enough iterations to distribute evenly, if its
work takes longer than waking the threads. Where the work depends on sizes that are not constant,
that is decided when the loop runs.
"""

from collections.abc import Iterator

from irkit.autoschedule.structure import iterations, operations
from irkit.core import ScheduleError, children
from irkit.ir import Block, For, PrimFunc, Stmt
from irkit.schedule import LoopRef, Schedule

# Sleeping threads take 50 us to wake, and a core does about 10,000 operations in a microsecond.
WORTH = 1 << 18
TOO_MUCH = 1 << 40  # Nobody runs this, and its indices may not fit into 32 bits.
_EVEN = 8


def mark_parallel(sch: Schedule) -> None:
    """Mark a loop of each outermost nest parallel, where that pays off and provably is safe."""
    for nest in list(_outermost(sch.func)):
        for loop in _candidates(nest):
            try:
                sch.parallel(LoopRef(loop.var))
            except ScheduleError:
                continue
            if operations(loop) is None:
                sch.pragma(LoopRef(loop.var), "parallel_least", WORTH)
            break


def _outermost(func: PrimFunc) -> Iterator[For]:
    stack: list[Stmt] = [func.body]
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, For):
            yield stmt
        elif not isinstance(stmt, Block):
            stack.extend(node for node in children(stmt) if isinstance(node, Stmt))


def _candidates(nest: For) -> list[For]:
    """List the loops of a perfect nest that are worth running in parallel, best first."""
    found: list[tuple[int, For]] = []
    while nest.kind == "serial":
        extent, work = iterations(nest), operations(nest)
        if extent is None:
            extent = _EVEN  # Of several sizes, each may be the one that is large.
        if extent > 1 and (work is None or WORTH <= work < TOO_MUCH):
            found.append((extent, nest))
        if not isinstance(nest.body, For):
            break
        nest = nest.body
    return [loop for _, loop in sorted(found, key=lambda pair: -min(pair[0], _EVEN))]
