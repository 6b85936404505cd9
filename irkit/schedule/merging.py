"""Primitives that make one nest of several, and several of one: merge, fission, lift_scope."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, fresh, substitute, walk
from irkit.ir import (
    Assert,
    Block,
    Evaluate,
    For,
    If,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    dependences,
    eq,
    is_empty,
    loop_ranges,
    lt,
    prove,
    seq,
    uses_of,
)
from irkit.schedule.loops import plain, reorder, unmarked
from irkit.schedule.state import exchange, find_loop, path_to, variables


def merge(func: PrimFunc, loops: Sequence[Var]) -> tuple[PrimFunc, Var]:
    """Make one nest of several that stand side by side; its loops are those of the first.

    The nests are merged from where they stand side by side down to the loops given.
    Raises: ScheduleError if they do not stand in one sequence, are not equally deep, differ in
    extent, are marked, or an iteration of the one might need a later one of another.
    """
    if len(set(loops)) != len(loops) or len(loops) < 2:
        raise ScheduleError("merge takes two or more different loops")
    for other in loops[1:]:
        func = _merged(func, loops[0], other)
    return func, loops[0]


def _merged(func: PrimFunc, first: Var, second: Var) -> PrimFunc:
    ones, others = _nests(func, first, second)
    for one, other in zip(ones, others, strict=True):
        func = _merge_level(func, one, other)
    return func


def _nests(func: PrimFunc, first: Var, second: Var) -> tuple[list[Var], list[Var]]:
    """List the loops of two nests, from where they part down to those given."""
    what = f"cannot merge {first.name!r} and {second.name!r}: "
    one, other = plain(func, first, "merge"), plain(func, second, "merge")
    up, down = path_to(func, one), path_to(func, other)
    at = next((n for n, (a, b) in enumerate(zip(up, down, strict=False)) if a is not b), None)
    if at is None or at == 0 or not isinstance(up[at - 1], Seq):
        raise ScheduleError(f"{what}they are not side by side in one scope", at=other)
    ones, others = up[at:], down[at:]
    found = [stmt.var for stmt in ones if isinstance(stmt, For)]
    matched = [stmt.var for stmt in others if isinstance(stmt, For)]
    if len(found) != len(ones) or len(matched) != len(others):
        raise ScheduleError(f"{what}there is more than loops around one of them", at=other)
    if len(found) != len(matched):
        raise ScheduleError(f"{what}they are not equally deep", at=other)
    return found, matched


def _merge_level(func: PrimFunc, first: Var, second: Var) -> PrimFunc:
    what = f"cannot merge {first.name!r} and {second.name!r}: "
    one, other = plain(func, first, "merge"), plain(func, second, "merge")
    if not prove(eq(one.end, other.end), loop_ranges(func)):
        raise ScheduleError(f"{what}they are not shown to have the same extent", at=other)
    func = _beside(func, one, other, what)
    body = substitute(other.body, {second: first})
    span = Span("schedule", "merge", parent=one.span)
    made = one.replace(body=seq(one.body, body), span=span)
    func = exchange(func, {one: made, other: seq()})
    reason = dependences(func).crosses(made, one.body, body)
    if reason:
        raise ScheduleError(f"{what}{reason}", at=other)
    return func


def _beside(func: PrimFunc, one: For, other: For, what: str) -> PrimFunc:
    """Refuse where something between two loops would have to run before both or after."""
    around = path_to(func, one)[-2]
    stmts = list(around.stmts) if isinstance(around, Seq) else []
    if other not in stmts or stmts.index(other) < stmts.index(one):
        raise ScheduleError(f"{what}the first is not in front of the second", at=other)
    depends = dependences(func)
    for between in stmts[stmts.index(one) + 1 : stmts.index(other)]:
        effect = any(True for part in (between, other) for _ in walk(part, on=(Evaluate, Assert)))
        if effect or depends.between(between, other):
            raise ScheduleError(
                f"{what}what stands between them must run before the second", at=between
            )
    return func


def fission(func: PrimFunc, var: Var, after: Stmt) -> tuple[PrimFunc, list[Var]]:
    """Cut the body of a loop behind a statement, so that the first part runs for all iterations
    before the second runs for any.

    Loops between the two are cut as well; new loops run the second part.
    Raises: ScheduleError if nothing follows the statement, something other than loops is between,
    or an iteration of the first part might need an earlier one of the second.
    """
    loop = find_loop(func, var)
    path = path_to(func, after)
    if loop not in path or loop is after:
        raise ScheduleError(f"cannot cut {var.name!r}: the statement is not inside it", at=loop)
    inside = path[path.index(loop) :]
    if not all(isinstance(stmt, (For, Seq)) for stmt in inside[:-1]):
        raise ScheduleError(
            f"cannot cut {var.name!r}: there is more than loops around the place to cut at", at=loop
        )
    levels = [stmt.var for stmt in reversed(inside[:-1]) if isinstance(stmt, For)]
    made: Var | None = None
    last: Stmt = after
    for level in levels:
        func, last, made = _cut_level(func, level, last)
    if made is None:
        raise ScheduleError(f"cannot cut {var.name!r}: nothing in it comes after this", at=after)
    return func, [var, made]


def _cut_level(func: PrimFunc, var: Var, after: Stmt) -> tuple[PrimFunc, Stmt, Var | None]:
    """Cut one loop behind a statement of its body; give back the loop of the first part."""
    loop = find_loop(func, var)
    stmts = loop.body.stmts if isinstance(loop.body, Seq) else (loop.body,)
    at = next(n for n, stmt in enumerate(stmts) if stmt is after) + 1
    first, second = seq(*stmts[:at]), seq(*stmts[at:])
    if is_empty(second):
        return func, loop, None
    unmarked(func, var, "cut")
    reason = dependences(func).crosses(loop, first, second)
    if reason:
        raise ScheduleError(f"cannot cut {var.name!r}: {reason}", at=after)
    span = Span("schedule", "fission", parent=loop.span)
    own = var.copy()
    before = loop.replace(body=first, span=span)
    later = loop.replace(var=own, body=substitute(second, {var: own}), span=span)
    return exchange(func, {loop: seq(before, later)}), before, own


def lift_loop(func: PrimFunc, var: Var) -> PrimFunc:
    """Exchange a loop with the loop or ``if`` that holds it and nothing else.

    Raises: ScheduleError if something else does, or the two cannot change places.
    """
    loop = find_loop(func, var)
    above = path_to(func, loop)[:-1]
    holder = above[-1] if above else None
    if isinstance(holder, For):
        return reorder(func, [var, holder.var])
    if not isinstance(holder, If) or holder.otherwise is not None:
        raise ScheduleError(
            f"cannot lift {var.name!r}: no loop, and no `if` without `else`, holds it alone",
            at=loop,
        )
    unmarked(func, var, "lift")
    _check_steady(func, holder, loop, f"cannot lift {var.name!r}")
    if any(True for bound in (loop.begin, loop.end) for _ in walk(bound, on=Load)):
        raise ScheduleError(f"cannot lift {var.name!r}: its bounds read memory", at=loop)
    span = Span("schedule", "lift_scope", parent=loop.span)
    made = loop.replace(body=holder.replace(then=loop.body), span=span)
    return exchange(func, {holder: made})


def lift_if(func: PrimFunc, block: Block) -> PrimFunc:
    """Move the innermost ``if`` around a block out of the loop that holds it and nothing else.

    Raises: ScheduleError if there is none, or its condition may change from iteration to iteration.
    """
    path = path_to(func, block)
    at = next((n for n in range(len(path) - 1, -1, -1) if isinstance(path[n], If)), 0)
    branch, loop = path[at], path[at - 1] if at else None
    if not isinstance(branch, If) or not isinstance(loop, For):
        raise ScheduleError(
            f"cannot lift the scope of block {block.name!r}: there is no `if` around it that a "
            "loop holds alone",
            at=block,
        )
    what = f"cannot lift the `if` around block {block.name!r}"
    if loop.kind == "thread":
        raise ScheduleError(f"{what} out of a thread loop", at=branch)
    if loop.var in variables(branch.cond):
        raise ScheduleError(f"{what}: it asks about {loop.var.name!r}", at=branch)
    _check_steady(func, branch, loop, what)
    reads = any(True for _ in walk(branch.cond, on=Load))
    if reads and not prove(lt(loop.begin, loop.end), loop_ranges(func)):
        raise ScheduleError(f"{what}: it reads memory, and the loop may never run", at=branch)
    span = Span("schedule", "lift_scope", parent=branch.span)
    then = loop.replace(body=branch.then)
    otherwise = None
    if branch.otherwise is not None:
        otherwise = fresh(loop.replace(body=branch.otherwise))
    return exchange(func, {loop: branch.replace(then=then, otherwise=otherwise, span=span)})


def _check_steady(func: PrimFunc, branch: If, loop: For, what: str) -> None:
    """Refuse a condition that reads what the loop writes."""
    memory = uses_of(func).memory
    written = {memory(store.buffer) for store in walk(loop, on=Store)}
    for load in walk(branch.cond, on=Load):
        if memory(load.buffer) in written:
            raise ScheduleError(
                f"{what}: its condition reads {load.buffer.name!r}, which the loop writes",
                at=branch,
            )
