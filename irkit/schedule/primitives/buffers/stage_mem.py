"""The primitive stage_mem: let a loop work on a copy of the part of a buffer that it touches."""

from irkit.ir import Buffer, PrimFunc, Var
from irkit.schedule.rewrite.staged_copy import Staged, StagedCopy
from irkit.schedule.state.lookup import find_loop


def stage_mem(func: PrimFunc, var: Var, buffer: Buffer, scope: str) -> Staged:
    """Let a loop work on a copy of the part of a buffer that it touches.

    The part is copied in front of the loop, unless the loop fills it without looking at it, and
    back behind it if the loop writes it.
    Raises: ScheduleError if the loop does not touch the buffer, a view shows it, or iterations
    around would then disturb each other.
    """
    loop = find_loop(func, var)
    return StagedCopy(func, loop, buffer, scope, "stage_mem").made(loop, loop)
