"""Replace a loop by consecutive loops over parts of its range."""

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
    replace_stmts,
    seq,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.rewrite.clone import Cloner


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
    cloner = Cloner(func)
    made: list[For] = [loop.replace(end=ends[0], span=span)]
    for begin, end in zip(limits, ends[1:], strict=True):
        piece = cloner.clone(loop.replace(begin=begin, end=end, span=span))
        made.append(_without_dead_init(func, piece))
    return replace_stmts(func, {loop: seq(*made)}), [piece.var for piece in made]


def _without_dead_init(func: PrimFunc, piece: For) -> For:
    """Remove the initialisation of reductions that continue in this piece, where it never runs.

    If it stayed, decompose_reduction would move it out, and it would run.
    """

    def drop_init(block: Block) -> Block | None:
        reduces = any(
            axis.kind == "reduce" and piece.var in variables(axis.binding) for axis in block.axes
        )
        if block.init is None or not reduces:
            return None
        if not never_initialises(func, piece, block):
            raise ScheduleError(
                f"cannot partition the range of {piece.var.name!r}: the reduction of block "
                f"{block.name!r} cannot be proved to start in the first part only",
                at=piece,
            )
        return block.replace(init=None)

    return piece.replace(body=rewrite(piece.body, drop_init, on=Block))


def never_initialises(func: PrimFunc, loop: For, block: Block) -> bool:
    """Return True if some reduce axis of a block inside a loop provably is never 0."""
    ranges = loop_ranges(loop, loop_ranges(func))
    lows = (bounds(axis.binding, ranges).low for axis in block.axes if axis.kind == "reduce")
    return any(low is not None and low >= 1 for low in lows)
