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


def mark_parallel_at(sch: Schedule, depth: int, fused: int = 1) -> None:
    """Mark a loop of each outermost nest that is worth it: so many loops inside the outermost one,
    fused with the next ones to so many loops.

    A nest of fewer loops, or in which that is not legal, has the nearest loop outside of it marked
    that can be.
    """
    for nest in list(_outermost(sch.func)):
        work, chain = operations(nest), list(_serial_chain(nest))
        if work is not None and not WORTH <= work < TOO_MUCH:
            continue
        for at in reversed(range(min(depth + 1, len(chain)))):
            loops = [LoopRef(loop.var) for loop in chain[at : at + fused]]
            if any(_is_parallel(sch, loops[:count]) for count in range(len(loops), 0, -1)):
                break


def _is_parallel(sch: Schedule, loops: list[LoopRef]) -> bool:
    """Mark loops parallel as one; return False, and change nothing, if that is not legal."""
    trial = sch.copy()
    try:
        trial.parallel(trial.fuse(*loops) if len(loops) > 1 else loops[0])
    except ScheduleError:
        return False
    sch.parallel(sch.fuse(*loops) if len(loops) > 1 else loops[0])
    return True


def _serial_chain(nest: For) -> Iterator[For]:
    """Yield the serial loops of a nest that contain nothing but each other, the outermost first."""
    while nest.kind == "serial":
        yield nest
        if not isinstance(nest.body, For):
            return
        nest = nest.body


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
