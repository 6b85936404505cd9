"""The primitive join_loops: join two consecutive loops with the same body."""

from itertools import pairwise

from irkit.core import ScheduleError, Span, rewrite, same, substitute, walk
from irkit.ir import (
    Block,
    Expr,
    For,
    PrimFunc,
    Seq,
    Var,
    eq,
    le,
    loop_ranges,
    minimum,
    prove,
    replace_stmts,
    seq,
)
from irkit.schedule.checks.plain_loop import find_unmarked_loop
from irkit.schedule.rewrite.consecutive_loops import never_initialises
from irkit.schedule.state.lookup import path_to


def join_loops(func: PrimFunc, first: Var, second: Var) -> tuple[PrimFunc, Var]:
    """Join two consecutive loops over adjacent ranges, with the same body, into one.

    The variable and the names of the blocks are those of the first.
    Raises: ScheduleError if they are marked, do not follow each other, differ in more than names,
    or the second cannot be proved to begin where the first ends.
    """
    one, other = find_unmarked_loop(func, first, "join"), find_unmarked_loop(func, second, "join")
    reason = ""
    if not _follows(func, one, other):
        reason = "the second does not directly follow the first"
    elif not _adjacent(func, one, other):
        reason = "the second cannot be proved to begin where the first ends"
    elif not _alike(func, one, other):
        reason = "they do not have the same body"
    if reason:
        raise ScheduleError(f"cannot join {first.name!r} and {second.name!r}: {reason}", at=other)
    span = Span("schedule", "join_loops", parent=one.span)
    joined = one.replace(end=other.end, span=span)
    return replace_stmts(func, {one: joined, other: seq()}), first


def _follows(func: PrimFunc, one: For, other: For) -> bool:
    around = path_to(func, one)[:-1]
    stmts = around[-1].stmts if around and isinstance(around[-1], Seq) else ()
    return any(a is one and b is other for a, b in pairwise(stmts))


def _adjacent(func: PrimFunc, one: For, other: For) -> bool:
    """Return True if the second range provably begins where the first ends."""
    ranges = loop_ranges(func)
    if one.var.dtype != other.var.dtype or not prove(le(one.begin, one.end), ranges):
        return False
    if prove(eq(one.end, other.begin), ranges):
        return prove(le(other.begin, other.end), ranges)
    return prove(eq(one.end, minimum(other.begin, other.end)), ranges)


def _alike(func: PrimFunc, one: For, other: For) -> bool:
    mine, theirs = (list(walk(loop.body, on=Block)) for loop in (one, other))
    if len(mine) != len(theirs):
        return False
    known = {b.name: (a, b) for a, b in zip(mine, theirs, strict=True)}

    def like_mine(block: Block) -> Block:
        mine, theirs = known[block.name]
        init = block.init
        if mine.init is not None and init is None and never_initialises(func, other, theirs):
            init = substitute(mine.init, _axes_of(mine, theirs))
        return block.replace(name=mine.name, init=init)

    body = rewrite(other.body, like_mine, on=Block)
    return same(one.body, substitute(body, {other.var: one.var}))


def _axes_of(a: Block, b: Block) -> dict[Var, Expr]:
    return {x.var: y.var for x, y in zip(a.axes, b.axes, strict=False)}
