"""How often loops run, and how large a new buffer is: an extent can be negative, and means 0."""

from collections.abc import Iterable, Sequence

from irkit.ir import Expr, For, Mul, PrimFunc, Stmt, as_int, const, ge, lt, maximum, prove
from irkit.ir.arith import Ranges
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.state.lookup import facts_at


def trips(func: PrimFunc, loops: Sequence[For]) -> list[Expr]:
    """Return how often each of some perfectly nested loops from 0 runs, if those around it run.

    It is the end of the loop where that cannot be negative (of shape variables, and by what is
    asserted before it), else ``max(end, 0)``.
    """
    ranges, facts = ranges_at(func), facts_at(func, loops[0])
    found: list[Expr] = []
    for loop in loops:
        found.append(_not_negative(loop.end, ranges, facts))
        facts.append(lt(loop.begin, loop.end))
    return found


def dims_at(func: PrimFunc, place: Stmt, extents: Iterable[Expr]) -> tuple[Expr, ...]:
    """Return the dimensions of a buffer that is allocated around a statement, from the extents of
    what is stored in it: ``max(extent, 0)`` where an extent may be negative."""
    ranges, facts = ranges_at(func), facts_at(func, place)
    return tuple(_not_negative(extent, ranges, facts) for extent in extents)


def _not_negative(extent: Expr, ranges: Ranges, facts: Sequence[Expr]) -> Expr:
    number = as_int(extent)
    if number is not None:
        return extent if number >= 0 else const(0, extent.dtype)
    return extent if _is_not_negative(extent, ranges, facts) else maximum(extent, 0)


def _is_not_negative(extent: Expr, ranges: Ranges, facts: Sequence[Expr]) -> bool:
    if prove(ge(extent, 0), ranges, facts):
        return True
    # The prover fears that a product wraps around; a size that does is refused at the call.
    if not isinstance(extent, Mul) or not _is_not_negative(extent.a, ranges, facts):
        return False
    return _is_not_negative(extent.b, ranges, facts)
