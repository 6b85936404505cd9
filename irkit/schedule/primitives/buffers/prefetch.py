"""The primitive prefetch: load memory into the cache ahead of time."""

from collections.abc import Sequence

from irkit.core import Node, ScheduleError, Span, substitute, walk
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    PrimFunc,
    Stmt,
    Var,
    as_int,
    call,
    const,
    convert,
    ge,
    logical_and,
    lt,
    nested,
    prove,
    replace_stmts,
    seq,
    simplify,
)
from irkit.ir.analysis import SymbolicInterval, box_of, touches
from irkit.schedule.analysis.ranges import facts_of, ranges_at
from irkit.schedule.limits import MOST_FACTOR
from irkit.schedule.state.lookup import find_block, find_loop, path_to

LINE = 64
"""Size of a cache line. Units: bytes."""


def prefetch(
    func: PrimFunc,
    name: str,
    buffer: Buffer,
    var: Var,
    offset: int,
    *,
    inside: Var | None = None,
    among: Var | None = None,
) -> PrimFunc:
    """Prefetch, at the start of each iteration of a loop, what a block reads ``offset`` iterations
    later.

    With a loop ``inside`` of it, each iteration of that one prefetches what the same iteration
    reads then; with a loop ``among`` whose iterations this is distributed, each of them a part.
    This is a hint: addresses outside the buffer are skipped, and nothing is loaded.
    Raises: ScheduleError if the block is not under the loops or does not read the buffer, if the
    part it reads is unknown, or if a loop is vectorized or a thread loop.
    """
    block, loop = find_block(func, name), find_loop(func, var)
    what = f"prefetch {buffer.name!r} in loop {var.name!r}"
    path = path_to(func, block)
    if loop not in path:
        raise ScheduleError(f"cannot {what}: block {name!r} is not under it", at=block)
    place = loop if inside is None else find_loop(func, inside)
    shared = None if among is None else find_loop(func, among)
    for each in (place, *([] if shared is None else [shared])):
        if each not in path or path.index(each) < path.index(loop):
            raise ScheduleError(
                f"cannot {what}: loop {each.var.name!r} is not inside of it, around the block",
                at=block,
            )
    if shared is not None and path.index(shared) > path.index(place):
        raise ScheduleError(
            f"cannot {what}: loop {shared.var.name!r} is inside of {place.var.name!r}", at=block
        )
    above = [stmt for stmt in path[: path.index(place) + 1] if isinstance(stmt, For)]
    marked = next((each for each in above if each.kind in ("vectorized", "thread")), None)
    reason = ""
    if marked is not None:
        reason = f"loop {marked.var.name!r} is {marked.kind}"
    elif not 1 <= offset <= MOST_FACTOR:
        reason = f"the offset must be 1 to {MOST_FACTOR} iterations, found {offset}"
    elif shared is not None and as_int(shared.end) is None:
        reason = f"loop {shared.var.name!r} has no constant number of iterations"
    elif any(stmt.buffer is buffer for stmt in walk(loop.body, on=Allocate)):
        reason = "each iteration has its own buffer"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    reach = _read(func, block, buffer, place, what)
    span = Span("schedule", "prefetch", parent=block.span)
    ahead = _PrefetchNest(func, above, loop, buffer, offset, span)
    made = ahead.stmt(reach, shared)
    return replace_stmts(func, {place: place.replace(body=seq(made, place.body))})


def _read(
    func: PrimFunc, block: Block, buffer: Buffer, loop: For, what: str
) -> list[SymbolicInterval]:
    """Return the box that a block reads in one iteration of a loop."""
    found = touches(loop.body, buffer, Load)
    inner = {id(each) for each in walk(block, on=Block)}
    mine = [touch for touch in found or () if id(touch.block) in inner]
    if not mine:
        raise ScheduleError(f"cannot {what}: block {block.name!r} does not read it", at=block)
    box = box_of(mine, ranges_at(func))
    known = [reach for reach in box if reach is not None]
    if len(known) < len(box):
        raise ScheduleError(f"cannot {what}: it is unknown which part is read", at=block)
    return known


class _PrefetchNest:
    """A nest that prefetches a box of a buffer for a later iteration, cache line by cache line."""

    def __init__(
        self,
        func: PrimFunc,
        above: Sequence[For],
        loop: For,
        buffer: Buffer,
        offset: int,
        span: Span,
    ) -> None:
        self.func, self.above, self.buffer = func, above, buffer
        self.loop, self.offset, self.span = loop, offset, span

    def stmt(self, box: Sequence[SymbolicInterval], shared: For | None = None) -> Stmt:
        """Return the loops over a box; the last one steps by cache lines. Of the longest dimension
        but the last, each iteration of a ``shared`` loop has a part."""
        sizes = [as_int(simplify(reach.high - reach.low + 1)) or 0 for reach in box[:-1]]
        longest = max(sizes, default=0)
        parted = sizes.index(longest) if shared is not None and longest > 1 else -1
        later: dict[Node, Node] = {self.loop.var: self.loop.var + self.offset}
        places, loops = list[Expr](), list[For]()
        for at, reach in enumerate(box):
            low = substitute(reach.low, later)
            size = convert(simplify(reach.high - reach.low + 1), low.dtype)
            step = 1
            if at == parted and shared is not None:
                part = -(-longest // (as_int(shared.end) or 1))
                low, size = low + shared.var * part, const(part, low.dtype)
            if at == len(box) - 1:
                step = max(1, LINE // self.buffer.dtype.bytes)
                size = simplify((size + (step - 1)) // step)
            if as_int(size) == 1:
                places.append(simplify(low))
                continue
            counter = Var(f"p{at}", low.dtype)
            loops.append(For(counter, const(0, low.dtype), size, seq(), span=self.span))
            places.append(simplify(low + counter * step))
        made: Stmt = Evaluate(call("prefetch", self.buffer[tuple(places)]), span=self.span)
        tests = self._tests(places, loops)
        made = If(logical_and(*tests), made, span=self.span) if tests else made
        return nested(loops, made)

    def _tests(self, places: Sequence[Expr], loops: Sequence[For]) -> list[Expr]:
        """List the conditions for a prefetch: the later iteration and the element exist."""
        ranges = ranges_at(self.func, loops)
        facts = facts_of([*self.above, *loops])
        tests = [lt(self.loop.var + self.offset, self.loop.end)]
        for at, dim in zip(places, self.buffer.shape, strict=True):
            tests += [ge(at, 0), lt(at, dim)]
        return [test for test in dict.fromkeys(tests) if not prove(test, ranges, facts)]
