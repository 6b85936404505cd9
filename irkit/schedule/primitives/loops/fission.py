"""The primitive fission: split the body of a loop in two."""

from irkit.core import ScheduleError, Span, substitute
from irkit.ir import For, PrimFunc, Seq, Stmt, Var, dependences, is_empty, replace_stmts, seq
from irkit.schedule.checks.plain_loop import find_unmarked_loop
from irkit.schedule.state.lookup import find_loop, path_to


def fission(func: PrimFunc, var: Var, after: Stmt) -> tuple[PrimFunc, list[Var]]:
    """Split the body of a loop after a statement, so that all iterations of the first part run
    before any of the second.

    Loops between the two are split as well; new loops run the second part.
    Raises: ScheduleError if nothing follows the statement, there are statements other than loops in
    between, or an iteration of the first part might need an earlier one of the second.
    """
    loop = find_loop(func, var)
    path = path_to(func, after)
    if loop not in path or loop is after:
        raise ScheduleError(f"cannot cut {var.name!r}: the statement is not inside it", at=loop)
    inside = path[path.index(loop) :]
    if not all(isinstance(stmt, (For, Seq)) for stmt in inside[:-1]):
        raise ScheduleError(
            f"cannot cut {var.name!r}: there are statements other than loops around the place to "
            "cut at",
            at=loop,
        )
    levels = [stmt.var for stmt in reversed(inside[:-1]) if isinstance(stmt, For)]
    made: Var | None = None
    last: Stmt = after
    for level in levels:
        func, last, made = _cut_level(func, level, last)
    if made is None:
        raise ScheduleError(
            f"cannot cut {var.name!r}: nothing in it follows this statement", at=after
        )
    return func, [var, made]


def _cut_level(func: PrimFunc, var: Var, after: Stmt) -> tuple[PrimFunc, Stmt, Var | None]:
    """Split one loop after a statement of its body; also return the loop of the first part and the
    new variable."""
    loop = find_loop(func, var)
    stmts = loop.body.stmts if isinstance(loop.body, Seq) else (loop.body,)
    at = next(n for n, stmt in enumerate(stmts) if stmt is after) + 1
    first, second = seq(*stmts[:at]), seq(*stmts[at:])
    if is_empty(second):
        return func, loop, None
    find_unmarked_loop(func, var, "cut")
    reason = dependences(func).crosses(loop, first, second)
    if reason:
        raise ScheduleError(f"cannot cut {var.name!r}: {reason}", at=after)
    span = Span("schedule", "fission", parent=loop.span)
    own = var.copy()
    before = loop.replace(body=first, span=span)
    later = loop.replace(var=own, body=substitute(second, {var: own}), span=span)
    return replace_stmts(func, {loop: seq(before, later)}), before, own
