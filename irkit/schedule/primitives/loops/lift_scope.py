"""The primitive lift_scope: interchange a loop or an `if` with the scope directly around it."""

from irkit.core import ScheduleError, Span, any_node, fresh, walk
from irkit.ir import (
    Block,
    For,
    If,
    Load,
    PrimFunc,
    Store,
    Var,
    loop_ranges,
    lt,
    prove,
    replace_stmts,
    uses_of,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.checks.plain_loop import find_unmarked_loop
from irkit.schedule.primitives.loops.reorder import reorder
from irkit.schedule.state.lookup import find_loop, path_to


def lift_loop(func: PrimFunc, var: Var) -> PrimFunc:
    """Interchange a loop with the loop or ``if`` that contains it and nothing else.

    Raises: ScheduleError if there is no such scope, or the two cannot be interchanged.
    """
    loop = find_loop(func, var)
    above = path_to(func, loop)[:-1]
    holder = above[-1] if above else None
    if isinstance(holder, For):
        return reorder(func, [var, holder.var])
    if not isinstance(holder, If) or holder.otherwise is not None:
        raise ScheduleError(
            f"cannot lift {var.name!r}: it is not the only statement of a loop or of an `if` "
            "without `else`",
            at=loop,
        )
    find_unmarked_loop(func, var, "lift")
    _check_steady(func, holder, loop, f"cannot lift {var.name!r}")
    if any_node(loop.begin, Load) or any_node(loop.end, Load):
        raise ScheduleError(f"cannot lift {var.name!r}: its bounds read memory", at=loop)
    span = Span("schedule", "lift_scope", parent=loop.span)
    made = loop.replace(body=holder.replace(then=loop.body), span=span)
    return replace_stmts(func, {holder: made})


def lift_if(func: PrimFunc, block: Block) -> PrimFunc:
    """Move the innermost ``if`` around a block out of the loop that contains it and nothing else.

    Raises: ScheduleError if there is none, or its condition may change between iterations.
    """
    path = path_to(func, block)
    at = next((n for n in range(len(path) - 1, -1, -1) if isinstance(path[n], If)), 0)
    branch, loop = path[at], path[at - 1] if at else None
    if not isinstance(branch, If) or not isinstance(loop, For):
        raise ScheduleError(
            f"cannot lift the scope of block {block.name!r}: no `if` around it is the only "
            "statement of a loop",
            at=block,
        )
    what = f"cannot lift the `if` around block {block.name!r}"
    if loop.kind == "thread":
        raise ScheduleError(f"{what} out of a thread loop", at=branch)
    if loop.var in variables(branch.cond):
        raise ScheduleError(f"{what}: its condition uses {loop.var.name!r}", at=branch)
    _check_steady(func, branch, loop, what)
    reads = any_node(branch.cond, Load)
    if reads and not prove(lt(loop.begin, loop.end), loop_ranges(func)):
        raise ScheduleError(
            f"{what}: its condition reads memory, and the loop may never run", at=branch
        )
    span = Span("schedule", "lift_scope", parent=branch.span)
    then = loop.replace(body=branch.then)
    otherwise = None
    if branch.otherwise is not None:
        otherwise = fresh(loop.replace(body=branch.otherwise))
    return replace_stmts(func, {loop: branch.replace(then=then, otherwise=otherwise, span=span)})


def _check_steady(func: PrimFunc, branch: If, loop: For, what: str) -> None:
    """Check that the condition does not read what the loop writes."""
    memory = uses_of(func).memory
    written = {memory(store.buffer) for store in walk(loop, on=Store)}
    for load in walk(branch.cond, on=Load):
        if memory(load.buffer) in written:
            raise ScheduleError(
                f"{what}: its condition reads {load.buffer.name!r}, which the loop writes",
                at=branch,
            )
