"""Start a clock before each loop that runs long enough, and stop it after the loop.

Before::

    def f(A: f32[64, 256]):
        for i in serial(0, 64):
            for j in serial(0, 256):
                A[i, j] = exp(A[i, j])
            A[i, 0] = f32(0.0)

After::

    @attrs(timed_loops=1)
    def f(A: f32[64, 256]):
        evaluate(start_clock(0, 64))
        for i in serial(0, 64):
            for j in serial(0, 256):
                A[i, j] = exp(A[i, j])
            A[i, 0] = f32(0.0)
        evaluate(stop_clock(0))

Run it last: a clock between loops keeps them apart. What a program computes does not change.
"""

from itertools import islice

from irkit.core import Node, children, deep_recursion, walk
from irkit.ir import (
    I64,
    MAX_CLOCKS,
    Evaluate,
    Expr,
    For,
    PrimFunc,
    Stmt,
    call,
    const,
    convert,
    map_below,
    no_blocks,
    seq,
    trip_count,
)
from irkit.transform import define_pass

MARK = "timed_loops"
"""Attribute of functions that have clocks: the number of them."""
LEAST_WORK = 10_000
"""Expressions that make a clock cost little beside its loop."""
UNKNOWN_TRIPS = 64
"""Iterations that a loop counts as if its bounds are not constant."""
MOST_COUNTED = 256
"""Expressions of one statement that are counted."""


@define_pass(idempotent=True, needs=(no_blocks,))
def time_loops(func: PrimFunc, *, least_work: int = LEAST_WORK) -> PrimFunc:
    """Time the loops that evaluate at least ``least_work`` expressions each time they run.

    Loops inside thread loops and vectors have no clock. Clocks have numbers in the order of the
    text.
    """
    if MARK in dict(func.attrs):
        return func
    with deep_recursion:
        timer = _LoopTimer(least_work)
        body = timer.visit(func.body)
    if not timer.loops:
        return func
    return func.replace(body=body, attrs=(*func.attrs, (MARK, len(timer.loops))))


def loops_worth_timing(
    func: PrimFunc, *, least_work: int = LEAST_WORK
) -> tuple[tuple[For, int | None], ...]:
    """Return the loops that ``time_loops`` times, in the order of their clocks, and the number of
    the clock around each."""
    with deep_recursion:
        timer = _LoopTimer(least_work)
        timer.visit(func.body)
    return tuple(timer.loops)


class _LoopTimer:
    """Puts clocks around loops, outer ones first."""

    def __init__(self, least_work: int) -> None:
        self.least_work = least_work
        self.loops: list[tuple[For, int | None]] = []
        self.around: int | None = None
        self.work: dict[int, int] = {}

    def visit(self, stmt: Stmt) -> Stmt:
        if not isinstance(stmt, For):
            return map_below(stmt, self.visit)
        number = len(self.loops)
        if stmt.kind in ("thread", "vectorized") or number == MAX_CLOCKS:
            return stmt
        if self.work_of(stmt) < self.least_work:
            return stmt
        self.loops.append((stmt, self.around))
        outside, self.around = self.around, number
        loop = map_below(stmt, self.visit)
        self.around = outside
        start = call("start_clock", number, _iterations(stmt))
        return seq(
            Evaluate(start, span=stmt.span),
            loop,
            Evaluate(call("stop_clock", number), span=stmt.span),
        )

    def work_of(self, node: Node) -> int:
        """Return how many expressions a statement evaluates; both branches count."""
        found = self.work.get(id(node))
        if found is None:
            below = [child for child in children(node) if isinstance(child, Stmt)]
            if below:
                found = sum([self.work_of(child) for child in below])
            else:
                found = sum(1 for _ in islice(walk(node, Expr), MOST_COUNTED))
            if isinstance(node, For):
                trips = trip_count(node)
                found *= UNKNOWN_TRIPS if trips is None else trips
            self.work[id(node)] = found
        return found


def _iterations(loop: For) -> Expr:
    """Return how often a loop runs, or a negative number if it does not."""
    trips = trip_count(loop)
    if trips is not None:
        return const(trips, I64)
    return convert(loop.end, I64) - convert(loop.begin, I64)
