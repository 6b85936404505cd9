"""Primitives that take the range of a loop apart and put it together: loop_partition, cut_loop,
join_loops, shift_loop."""

from collections.abc import Sequence
from itertools import pairwise

from irkit.core import ScheduleError, Span, rewrite, same, substitute, walk
from irkit.ir import (
    Block,
    Expr,
    For,
    PrimFunc,
    Seq,
    Var,
    as_int,
    bounds,
    cast,
    const,
    eq,
    le,
    loop_ranges,
    minimum,
    prove,
    seq,
    simplify,
)
from irkit.schedule.copies import Copies
from irkit.schedule.loops import Factor, plain, unmarked
from irkit.schedule.state import exchange, find_loop, path_to, variables


def loop_partition(
    func: PrimFunc, var: Var, factors: Sequence[Factor]
) -> tuple[PrimFunc, list[Var]]:
    """Replace a loop by consecutive loops over parts of its range, each with a copy of the body.

    The first keeps its variable and the names of its blocks; the blocks of the others are numbered.
    Raises: ScheduleError if the loop is marked or does not start at 0, if the parts are not shown
    to make up the range, or if a reduction might start again in a later part.
    """
    loop = plain(func, var, "partition")
    if not factors:
        raise ScheduleError(f"cannot partition {var.name!r} into no parts", at=loop)
    return _pieces(func, loop, _limits(func, loop, factors), "loop_partition")


def cut_loop(func: PrimFunc, var: Var, at: int | Expr) -> tuple[PrimFunc, list[Var]]:
    """Replace a loop by two, the second beginning at a value of the loop variable.

    Raises: ScheduleError as ``loop_partition``, except that the loop may start anywhere.
    """
    loop = unmarked(func, var, "cut")
    point, ranges = _of(at, loop), loop_ranges(func)
    inside = prove(le(loop.begin, point), ranges)
    begin, place, end = as_int(loop.begin), as_int(point), as_int(loop.end)
    if begin is not None and place is not None and end is not None:
        inside = begin < place < end
    if not inside:
        raise ScheduleError(
            f"cannot cut {var.name!r} at {at}: that is not shown to lie inside its range",
            at=loop,
        )
    return _pieces(func, loop, [point], "cut_loop")


def _limits(func: PrimFunc, loop: For, factors: Sequence[Factor]) -> list[Expr]:
    """Find where parts of these lengths end and the next begin; at most one length is None."""
    ranges = loop_ranges(func)
    unknown = [at for at, factor in enumerate(factors) if factor is None]
    if len(unknown) > 1:
        raise ScheduleError("loop_partition takes at most one factor that is None", at=loop)
    zero = const(0, loop.var.dtype)
    for factor in factors:
        least = 1 if factor is None else bounds(_of(factor, loop), ranges).low
        if least is None or least < 1:
            raise ScheduleError(f"partition factors must be positive, found {factor}", at=loop)
    split = unknown[0] if unknown else len(factors)
    front, back = _sums(loop, factors[:split]), _sums(loop, factors[split + 1 :][::-1])
    limits = [*front, *(simplify(loop.end - part, ranges) for part in reversed(back))]
    if not unknown:
        if not prove(eq(front[-1], loop.end), ranges):
            raise ScheduleError(
                f"cannot partition {loop.var.name!r}: the parts are not shown to add up to its "
                "extent",
                hint="Leave one factor as None to have it found.",
                at=loop,
            )
        return limits[:-1]
    before, after = (front[-1] if front else zero), (back[-1] if back else zero)
    rest = as_int(simplify(loop.end - before - after, ranges))
    symbolic_tail = rest is None and not back  # Parts in front may be cut short by a short loop.
    if not symbolic_tail and (
        rest == 0 or not prove(le(before, simplify(loop.end - after, ranges)), ranges)
    ):
        raise ScheduleError(
            f"cannot partition {loop.var.name!r}: the parts are not shown to fit its extent",
            at=loop,
        )
    return limits


def _sums(loop: For, factors: Sequence[Factor]) -> list[Expr]:
    found: list[Expr] = []
    for factor in factors:
        length = _of(factor if factor is not None else 0, loop)
        found.append(simplify(found[-1] + length) if found else length)
    return found


def _of(value: int | Expr, loop: For) -> Expr:
    number = as_int(value)
    return cast(value, loop.var.dtype) if number is None else const(number, loop.var.dtype)


def _pieces(
    func: PrimFunc, loop: For, limits: Sequence[Expr], primitive: str
) -> tuple[PrimFunc, list[Var]]:
    ranges = loop_ranges(func)
    span = Span("schedule", primitive, parent=loop.span)
    ends = [
        limit if prove(le(limit, loop.end), ranges) else minimum(limit, loop.end)
        for limit in limits
    ] + [loop.end]
    copies = Copies(func)
    made: list[For] = [loop.replace(end=ends[0], span=span)]
    for begin, end in zip(limits, ends[1:], strict=True):
        piece = copies.of(loop.replace(begin=begin, end=end, span=span))
        made.append(_going_on(func, piece))
    return exchange(func, {loop: seq(*made)}), [piece.var for piece in made]


def _going_on(func: PrimFunc, piece: For) -> For:
    """Drop the initialisation of reductions that go on in this piece: it never runs there.

    Left in, it would be moved out, and run, by a primitive that takes reductions apart.
    """

    def go_on(block: Block) -> Block | None:
        reduces = any(
            axis.kind == "reduce" and piece.var in variables(axis.binding) for axis in block.axes
        )
        if block.init is None or not reduces:
            return None
        if not never_starts(func, piece, block):
            raise ScheduleError(
                f"cannot take the range of {piece.var.name!r} apart: the reduction of block "
                f"{block.name!r} is not shown to start in the first part only",
                at=piece,
            )
        return block.replace(init=None)

    return piece.replace(body=rewrite(piece.body, go_on, on=Block))


def never_starts(func: PrimFunc, loop: For, block: Block) -> bool:
    """Say whether some reduce axis of a block inside a loop surely never is 0."""
    ranges = loop_ranges(loop, loop_ranges(func))
    lows = (bounds(axis.binding, ranges).low for axis in block.axes if axis.kind == "reduce")
    return any(low is not None and low >= 1 for low in lows)


def join_loops(func: PrimFunc, first: Var, second: Var) -> tuple[PrimFunc, Var]:
    """Replace two consecutive loops over adjacent ranges, whose bodies are the same, by one.

    The variable and the names of the blocks are those of the first.
    Raises: ScheduleError if they are marked, do not follow each other, differ in more than names,
    or the second is not shown to begin where the first ends.
    """
    one, other = unmarked(func, first, "join"), unmarked(func, second, "join")
    reason = ""
    if not _follows(func, one, other):
        reason = "the second does not directly follow the first"
    elif not _adjacent(func, one, other):
        reason = "the second is not shown to begin where the first ends"
    elif not _alike(func, one, other):
        reason = "they do not have the same body"
    if reason:
        raise ScheduleError(f"cannot join {first.name!r} and {second.name!r}: {reason}", at=other)
    span = Span("schedule", "join_loops", parent=one.span)
    joined = one.replace(end=other.end, span=span)
    return exchange(func, {one: joined, other: seq()}), first


def _follows(func: PrimFunc, one: For, other: For) -> bool:
    around = path_to(func, one)[:-1]
    stmts = around[-1].stmts if around and isinstance(around[-1], Seq) else ()
    return any(a is one and b is other for a, b in pairwise(stmts))


def _adjacent(func: PrimFunc, one: For, other: For) -> bool:
    """Say whether two ranges make up the range from the first's begin to the second's end."""
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
        if mine.init is not None and init is None and never_starts(func, other, theirs):
            init = substitute(mine.init, _axes_of(mine, theirs))
        return block.replace(name=mine.name, init=init)

    body = rewrite(other.body, like_mine, on=Block)
    return same(one.body, substitute(body, {other.var: one.var}))


def _axes_of(a: Block, b: Block) -> dict[Var, Expr]:
    return {x.var: y.var for x, y in zip(a.axes, b.axes, strict=False)}


def shift_loop(func: PrimFunc, var: Var, begin: int | Expr) -> PrimFunc:
    """Let a loop run as often as before, beginning elsewhere.

    Raises: ScheduleError if the loop is a thread loop, which begins at 0.
    """
    loop = find_loop(func, var)
    if loop.kind == "thread":
        raise ScheduleError(f"cannot shift {var.name!r}: a thread loop begins at 0", at=loop)
    start, ranges = _of(begin, loop), loop_ranges(func)
    late = variables(start) & {each.var for each in walk(loop, on=For)}
    if late:
        raise ScheduleError(
            f"cannot shift {var.name!r} to begin at its own {next(iter(late)).name!r}", at=loop
        )
    away = simplify(loop.begin - start, ranges)
    body = loop.body if as_int(away) == 0 else substitute(loop.body, {var: var + away})
    end = simplify(loop.end - away, ranges)
    span = Span("schedule", "shift_loop", parent=loop.span)
    return exchange(func, {loop: loop.replace(begin=start, end=end, body=body, span=span)})
