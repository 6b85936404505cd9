"""The primitive cut_loop: cut a loop in two at a value of its variable."""

from irkit.core import ScheduleError
from irkit.ir import Expr, PrimFunc, Var, as_int, le, loop_ranges, prove
from irkit.schedule.checks.plain_loop import find_unmarked_loop
from irkit.schedule.rewrite.consecutive_loops import consecutive_loops, index_for


def cut_loop(func: PrimFunc, var: Var, at: int | Expr) -> tuple[PrimFunc, list[Var]]:
    """Cut a loop into two, the second beginning at the given value of the loop variable.

    Raises: ScheduleError as ``loop_partition``, except that the loop may start anywhere.
    """
    loop = find_unmarked_loop(func, var, "cut")
    point, ranges = index_for(at, loop), loop_ranges(func)
    inside = prove(le(loop.begin, point), ranges)
    begin, place, end = as_int(loop.begin), as_int(point), as_int(loop.end)
    if begin is not None and place is not None and end is not None:
        inside = begin < place < end
    if not inside:
        raise ScheduleError(
            f"cannot cut {var.name!r} at {at}: that cannot be proved to be inside its range",
            at=loop,
        )
    return consecutive_loops(func, loop, [point], "cut_loop")
