"""The primitive bind: bind a loop to a thread axis."""

from irkit.core import ScheduleError, symbols_bound
from irkit.ir import Block, For, PrimFunc, Var, is_const, replace_stmts
from irkit.ir.analysis import accumulates
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.checks.independence import check_independent
from irkit.schedule.checks.launch import THREAD_AXES, check_launch
from irkit.schedule.state.lookup import find_loop


def bind(func: PrimFunc, var: Var, axis: str) -> PrimFunc:
    """Bind the iterations of a loop to the blocks, threads or virtual threads of a launch.

    Raises: ScheduleError as ``mark`` does, except that ``threadIdx`` can be bound to the loop of a
    reorderable reduction; if the loop does not start at 0 or its extent changes during the launch;
    and if the axis is already in the same nest, or elsewhere in the launch with another extent.
    """
    if axis not in THREAD_AXES:
        raise ScheduleError(
            f"unknown thread axis {axis!r}", hint=f"Known axes: {', '.join(THREAD_AXES)}"
        )
    loop = find_loop(func, var)
    what = f"bind {var.name!r} to {axis}"
    if loop.kind != "serial":
        found = loop.thread or loop.kind
        raise ScheduleError(f"cannot {what}: it is marked {found}", at=loop)
    if not is_const(loop.begin, 0):
        raise ScheduleError(f"cannot {what}: it does not start at 0", at=loop)
    if variables(loop.end) & set(symbols_bound(func.body)):
        raise ScheduleError(f"cannot {what}: its extent changes during the launch", at=loop)
    if not (axis.startswith("threadIdx") and _is_reduction(func, loop)):
        check_independent(func, loop, what)
    made = loop.replace(kind="thread", thread=axis)
    func = replace_stmts(func, {loop: made})
    check_launch(func, made, what)
    return func


def _is_reduction(func: PrimFunc, loop: For) -> bool:
    """Return True if a loop only runs the steps of one reorderable reduction."""
    stmt = loop.body
    while isinstance(stmt, For):
        stmt = stmt.body
    if not isinstance(stmt, Block):
        return False
    kinds = {axis.kind for axis in stmt.axes if loop.var in variables(axis.binding)}
    return kinds == {"reduce"} and accumulates(func, stmt)
