"""The primitive shift_loop: shift the range of a loop."""

from irkit.core import ScheduleError, Span, substitute, walk
from irkit.ir import Expr, For, PrimFunc, Var, as_int, loop_ranges, replace_stmts, simplify
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.rewrite.consecutive_loops import index_for
from irkit.schedule.state.lookup import find_loop


def shift_loop(func: PrimFunc, var: Var, begin: int | Expr) -> PrimFunc:
    """Shift the range of a loop to another begin; its extent stays.

    Raises: ScheduleError if the loop is a thread loop, which begins at 0.
    """
    loop = find_loop(func, var)
    if loop.kind == "thread":
        raise ScheduleError(f"cannot shift {var.name!r}: a thread loop begins at 0", at=loop)
    start, ranges = index_for(begin, loop), loop_ranges(func)
    late = variables(start) & {each.var for each in walk(loop, on=For)}
    if late:
        raise ScheduleError(
            f"cannot shift {var.name!r}: the new begin uses {next(iter(late)).name!r}, which is "
            "not defined around it",
            at=loop,
        )
    away = simplify(loop.begin - start, ranges)
    body = loop.body if as_int(away) == 0 else substitute(loop.body, {var: var + away})
    end = simplify(loop.end - away, ranges)
    span = Span("schedule", "shift_loop", parent=loop.span)
    return replace_stmts(func, {loop: loop.replace(begin=start, end=end, body=body, span=span)})
