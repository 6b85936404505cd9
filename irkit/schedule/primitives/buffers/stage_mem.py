"""The primitive stage_mem: work on a copy of the part of a buffer that a loop touches."""

from irkit.ir import Buffer, PrimFunc, Var
from irkit.schedule.rewrite.staged_copy import Staged, StagedCopy
from irkit.schedule.state.lookup import find_loop


def stage_mem(func: PrimFunc, var: Var, buffer: Buffer, scope: str) -> Staged:
    """Make a loop work on a copy of the part of a buffer that it touches.

    The part is copied in before the loop, unless the loop overwrites it completely, and copied out
    after the loop if the loop writes it.
    Raises: ScheduleError if the loop does not touch the buffer, a view aliases it, or iterations of
    an outer loop would interfere.
    """
    loop = find_loop(func, var)
    return StagedCopy(func, loop, buffer, scope, "stage_mem").made(loop, loop)
