"""Consecutive loops over parts of the range of one loop."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, rewrite
from irkit.ir import (
    Block,
    Expr,
    For,
    PrimFunc,
    Var,
    as_int,
    bounds,
    cast,
    const,
    le,
    loop_ranges,
    minimum,
    prove,
    seq,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.rewrite.clone import Cloner
from irkit.schedule.state.replace import replace_stmts


def index_for(value: int | Expr, loop: For) -> Expr:
    number = as_int(value)
    return cast(value, loop.var.dtype) if number is None else const(number, loop.var.dtype)


def consecutive_loops(
    func: PrimFunc, loop: For, limits: Sequence[Expr], primitive: str
) -> tuple[PrimFunc, list[Var]]:
    ranges = loop_ranges(func)
    span = Span("schedule", primitive, parent=loop.span)
    ends = [
        limit if prove(le(limit, loop.end), ranges) else minimum(limit, loop.end)
        for limit in limits
    ] + [loop.end]
    copies = Cloner(func)
    made: list[For] = [loop.replace(end=ends[0], span=span)]
    for begin, end in zip(limits, ends[1:], strict=True):
        piece = copies.of(loop.replace(begin=begin, end=end, span=span))
        made.append(_going_on(func, piece))
    return replace_stmts(func, {loop: seq(*made)}), [piece.var for piece in made]


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
