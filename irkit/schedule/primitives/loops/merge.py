"""The primitive merge: merge adjacent nests into one."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, any_node, substitute
from irkit.ir import (
    Assert,
    Evaluate,
    For,
    PrimFunc,
    Seq,
    Var,
    dependences,
    eq,
    loop_ranges,
    prove,
    replace_stmts,
    seq,
)
from irkit.schedule.checks.plain_loop import find_plain_loop
from irkit.schedule.state.lookup import path_to


def merge(func: PrimFunc, loops: Sequence[Var]) -> tuple[PrimFunc, Var]:
    """Merge adjacent nests into one; its loops are those of the first nest.

    The nests are merged from their outermost loops down to the given ones.
    Raises: ScheduleError if they are not in one sequence, differ in depth or extent, are marked, or
    an iteration of one might need a later one of another.
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
    """List the loops of two nests, from the outermost separate ones down to the given ones."""
    what = f"cannot merge {first.name!r} and {second.name!r}: "
    one, other = find_plain_loop(func, first, "merge"), find_plain_loop(func, second, "merge")
    up, down = path_to(func, one), path_to(func, other)
    at = next((n for n, (a, b) in enumerate(zip(up, down, strict=False)) if a is not b), None)
    if at is None or at == 0 or not isinstance(up[at - 1], Seq):
        raise ScheduleError(f"{what}they are not in one sequence of statements", at=other)
    ones, others = up[at:], down[at:]
    found = [stmt.var for stmt in ones if isinstance(stmt, For)]
    matched = [stmt.var for stmt in others if isinstance(stmt, For)]
    if len(found) != len(ones) or len(matched) != len(others):
        raise ScheduleError(
            f"{what}there are statements other than loops around one of them", at=other
        )
    if len(found) != len(matched):
        raise ScheduleError(f"{what}they have different depths", at=other)
    return found, matched


def _merge_level(func: PrimFunc, first: Var, second: Var) -> PrimFunc:
    what = f"cannot merge {first.name!r} and {second.name!r}: "
    one, other = find_plain_loop(func, first, "merge"), find_plain_loop(func, second, "merge")
    if not prove(eq(one.end, other.end), loop_ranges(func)):
        raise ScheduleError(f"{what}they cannot be proved to have the same extent", at=other)
    func = _beside(func, one, other, what)
    body = substitute(other.body, {second: first})
    span = Span("schedule", "merge", parent=one.span)
    made = one.replace(body=seq(one.body, body), span=span)
    func = replace_stmts(func, {one: made, other: seq()})
    reason = dependences(func).crosses(made, one.body, body)
    if reason:
        raise ScheduleError(f"{what}{reason}", at=other)
    return func


def _beside(func: PrimFunc, one: For, other: For, what: str) -> PrimFunc:
    """Move what is between two loops before the first; raise ScheduleError if it must run before
    the second."""
    around = path_to(func, one)[-2]
    stmts = list(around.stmts) if isinstance(around, Seq) else []
    if other not in stmts or stmts.index(other) < stmts.index(one):
        raise ScheduleError(f"{what}the first does not come before the second", at=other)
    depends = dependences(func)
    for between in stmts[stmts.index(one) + 1 : stmts.index(other)]:
        effect = any(any_node(part, (Evaluate, Assert)) for part in (between, other))
        if effect or depends.between(between, other):
            raise ScheduleError(
                f"{what}a statement between them must run before the second", at=between
            )
    return func
