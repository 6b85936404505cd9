"""The parts that a loop is split into, so that its guards are decided in each.

With constant bounds there can be several parts; with symbolic ones there are the iterations in
which all guards hold, and those before and after.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise

import msgspec

from irkit.core import children
from irkit.ir import (
    I64,
    Expr,
    FloorDiv,
    For,
    Stmt,
    Store,
    Var,
    as_expr,
    as_int,
    cast,
    le,
    maximum,
    minimum,
    prove,
)
from irkit.ir.arith import IndexSums, Interval, simplify as simplest
from irkit.passes.loop.support.loop_guards import Bound, GuardReach, whole_guards

MAX_LOOKED_AT = 256  # statements
MAX_SYMBOLIC = 8  # guards; each adds a minimum or maximum to a bound


class TooManyCopies(Exception):
    """A loop would need too many copies of its body; the pass catches it."""


class LoopPart(msgspec.Struct, frozen=True, eq=False):
    """Some iterations of a loop, and the guards that hold in all or none of them, by the identity
    of their conditions."""

    begin: Bound
    end: Bound
    decided: Mapping[int, bool]

    @property
    def is_single(self) -> bool:
        """Return True for one iteration with a known number."""
        return isinstance(self.begin, int) and self.end == self.begin + 1


class PartitionPlan(msgspec.Struct, frozen=True, eq=False):
    """The parts of a loop, in order.

    With a ``branch`` there is one part, and the iterations of the branch run another copy of the
    body.
    """

    parts: tuple[LoopPart, ...]
    branch: LoopPart | None = None

    @property
    def copies(self) -> int:
        """Return the number of copies of the body."""
        return len(self.parts) + (self.branch is not None)


def steps_at_least(body: Stmt, count: int) -> bool:
    """Return True if a body has at least so many stores, or is long; unrolled loops count as their
    copies, and vectors as one."""
    stack, seen = [(body, 1)], 0
    while stack and count > 0:
        stmt, times = stack.pop()
        seen += 1
        if seen > MAX_LOOKED_AT:
            return True
        if isinstance(stmt, Store):
            count -= times
        if isinstance(stmt, For) and stmt.kind == "unrolled":
            first, last = as_int(stmt.begin), as_int(stmt.end)
            times *= 1 if first is None or last is None else max(last - first, 0)
        stack += [(below, times) for below in children(stmt) if isinstance(below, Stmt)]
    return count <= 0


def constant_plan(loop: For, reaches: Sequence[GuardReach], copies: int) -> PartitionPlan | None:
    """Return the plan for a loop with constant bounds and guards; None if there is nothing to gain.

    If a guard is around the whole body, iterations in which it does not hold are left out.
    Raises: TooManyCopies if even the fewest parts are more than ``copies``.
    """
    first, last = as_int(loop.begin), as_int(loop.end)
    known = [reach for reach in reaches if reach.is_constant]
    if first is None or last is None or first >= last or not known:
        return None
    begin, end = _needed(loop, known, first, last)
    if begin >= end:
        return PartitionPlan(())
    cuts = sorted({reach.cut for reach in known if begin < reach.cut < end})
    low = max([reach.cut for reach in known if reach.rising], default=begin)
    high = min([reach.cut for reach in known if not reach.rising], default=end)
    if (
        loop.kind == "vectorized"
    ):  # Lanes have masks, and a short vector costs as much as a long one.
        cuts = []
    if loop.kind == "parallel" and cuts:
        return _constant_branch(known, (begin, end), (low, high), copies)
    fewer = cuts
    if len(cuts) >= copies:
        fewer = [cut for cut in (low, high) if begin < cut < end and low < high]
    if len(fewer) >= copies or (cuts and not fewer):
        raise TooManyCopies(f"its guards need {len(cuts) + 1} copies of its body")
    edges = [begin, *fewer, end]
    parts = tuple(LoopPart(a, b, _decided(known, a, b)) for a, b in pairwise(edges))
    if len(parts) == 1 and (begin, end) == (first, last) and not parts[0].decided:
        return None
    return PartitionPlan(parts)


def _constant_branch(
    reaches: Sequence[GuardReach], whole: tuple[int, int], main: tuple[int, int], copies: int
) -> PartitionPlan | None:
    """Return the plan in which the iterations where all guards hold take a branch."""
    begin, end = max(main[0], whole[0]), min(main[1], whole[1])
    if begin >= end:
        return None
    if copies < 2:
        raise TooManyCopies("its guards need 2 copies of its body")
    holding = {id(reach.cond): True for reach in reaches}
    return PartitionPlan((LoopPart(*whole, {}),), LoopPart(begin, end, holding))


def _needed(loop: For, reaches: Sequence[GuardReach], begin: int, end: int) -> tuple[int, int]:
    """Return the parts without those in which nothing happens."""
    whole = whole_guards(loop)
    for reach in reaches:
        if id(reach.cond) in whole and isinstance(reach.ever, int):
            begin = max(begin, reach.ever) if reach.rising else begin
            end = end if reach.rising else min(end, reach.ever)
    return begin, end


def _decided(reaches: Sequence[GuardReach], begin: int, end: int) -> dict[int, bool]:
    found = {id(reach.cond): reach.decided(begin, end) for reach in reaches}
    return {cond: holds for cond, holds in found.items() if holds is not None}


def symbolic_plan(
    loop: For, reaches: Sequence[GuardReach], ranges: Mapping[Var, Interval], copies: int
) -> PartitionPlan | None:
    """Return the plan that splits a loop where all of its guards begin and stop to hold; None if
    they never do.

    Raises: TooManyCopies if there would be more than ``copies``.
    """
    rising = [_wide(reach.always) for reach in reaches if reach.rising]
    falling = [_wide(reach.always) for reach in reaches if not reach.rising]
    if loop.kind == "vectorized" or not 0 < len(reaches) <= MAX_SYMBOLIC:
        return None
    begin, end = _wide(loop.begin), _wide(loop.end)
    low, high = reduce(maximum, rising, begin), reduce(minimum, falling or [end])
    if falling and not any(_at_most(each, end, ranges) for each in falling):
        high = minimum(high, end)
    if any(prove(le(*pair), ranges) for pair in ((high, begin), (end, low), (high, low))):
        return None
    holding = {id(reach.cond): True for reach in reaches}
    if loop.kind == "parallel":
        if copies < 2:
            raise TooManyCopies("its guards need 2 copies of its body")
        first = _plain(low, ranges) if rising else loop.begin
        behind = _plain(reduce(minimum, falling), ranges) if falling else loop.end
        main = LoopPart(first, behind, holding)
        return PartitionPlan((LoopPart(loop.begin, loop.end, {}),), main)
    if 1 + bool(rising) + bool(falling) > copies:
        raise TooManyCopies(
            f"its guards need {1 + bool(rising) + bool(falling)} copies of its body"
        )
    # Each part begins where the last one ends, even if the loop never runs.
    start: Bound = _plain(minimum(low, end), ranges) if rising else loop.begin
    stop: Bound = loop.end
    if falling:
        stop = _plain(maximum(high, _wide(start)), ranges)
    parts = [LoopPart(loop.begin, start, {})] if rising else []
    parts.append(LoopPart(start, stop, holding))
    parts += [LoopPart(stop, loop.end, {})] if falling else []
    return PartitionPlan(tuple(parts))


def _at_most(a: Expr, b: Expr, ranges: Mapping[Var, Interval]) -> bool:
    """Return True if a bound is proved to be at most another, as n // 16 is at most (n + 15) //
    16."""
    if isinstance(a, FloorDiv) and isinstance(b, FloorDiv) and as_int(a.b) == as_int(b.b):
        factor = as_int(a.b)
        if factor is not None and factor > 0:
            a, b = a.a, b.a
    sums = IndexSums(ranges)
    return (sums.sum_of(b) - sums.sum_of(a)).exact(sums.spans)[0] >= 0


def _wide(bound: Bound) -> Expr:
    return cast(as_expr(bound), I64)


def _plain(expr: Expr, ranges: Mapping[Var, Interval]) -> Bound:
    made = simplest(expr, ranges)
    known = as_int(made)
    return made if known is None else known
