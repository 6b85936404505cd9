"""Loops to unroll without a mark, chosen by the size of their copies.

Inner loops come first: a loop is chosen by the number of stores in its body once they are unrolled,
and by whether another loop is left in it.
"""

import msgspec

from irkit.core import Visit, allowed, remark, visit, walk
from irkit.ir import Evaluate, For, PrimFunc, Stmt, Store, trip_count, visit_below

STEP_HINT = "auto_unroll_max_step"
EXPLICIT_HINT = "unroll_explicit"


class UnrollLimits(msgspec.Struct, frozen=True):
    """Limits for loops that are unrolled without a mark; ``explicit`` tells whether to unroll at
    all."""

    max_step: int
    max_depth: int
    max_extent: int
    explicit: bool


class UnrolledSize(msgspec.Struct):
    """Size of a statement: its stores, and whether loops are left, or unrolled, in it."""

    steps: int = 0
    depth: int = 0
    has_loop: bool = False


def mark_unrolled(func: PrimFunc, limits: UnrollLimits) -> PrimFunc:
    """Mark the loops to unroll within the limits, and remove marks that are not to be obeyed."""
    plain = limits.explicit and limits.max_step <= 0 and limits.max_extent <= 0
    hints = {key for loop in walk(func.body, For) for key, _ in loop.attrs}
    if plain and not hints & {STEP_HINT, EXPLICIT_HINT}:
        return func
    return func.replace(body=visit((func.body, limits), _LoopMarker().visit))


class _LoopMarker:
    """Marks loops; ``size`` is that of the statement visited last."""

    def __init__(self) -> None:
        self.size = UnrolledSize()

    def visit(self, task: tuple[Stmt, UnrollLimits]) -> Visit[tuple[Stmt, UnrollLimits], Stmt]:
        stmt, limits = task
        if isinstance(stmt, For):
            limits = _hinted(stmt, limits)
        total = UnrolledSize(steps=int(isinstance(stmt, (Store, Evaluate))))
        below = visit_below(stmt)
        try:
            part = next(below)
            while True:
                made = yield part, limits
                total.steps += self.size.steps
                total.depth = max(total.depth, self.size.depth)
                total.has_loop = total.has_loop or self.size.has_loop
                part = below.send(made)
        except StopIteration as done:
            result: Stmt = done.value
        self.size = total
        return self._loop(result, limits) if isinstance(result, For) else result

    def _loop(self, loop: For, limits: UnrollLimits) -> For:
        size = self.size
        extent = trip_count(loop) or 0
        small = extent * size.steps <= limits.max_step or extent <= limits.max_extent
        if loop.kind == "serial" and extent > 0 and small and _is_open(size, limits):
            made = loop.replace(kind="unrolled")
            loop = made if limits.explicit and allowed("unroll", loop, made) else loop
        elif loop.kind == "unrolled" and not limits.explicit:
            remark(loop, "not unrolled here: left to the code generator as a serial loop")
            made = loop.replace(kind="serial")
            loop = made if allowed("leave", loop, made) else loop
        if loop.kind == "unrolled" and extent > 0:
            size.steps *= extent
            size.depth += 1
        else:
            size.has_loop = True
        return loop


def _is_open(size: UnrolledSize, limits: UnrollLimits) -> bool:
    has_limits = limits.max_step > 0 or limits.max_extent > 0
    return has_limits and not size.has_loop and size.depth <= limits.max_depth


def _hinted(loop: For, limits: UnrollLimits) -> UnrollLimits:
    """Return the limits with the hints that a loop has for itself and everything in it."""
    hints = dict(loop.attrs)
    step, explicit = hints.get(STEP_HINT), hints.get(EXPLICIT_HINT)
    if type(step) is int:
        limits = msgspec.structs.replace(limits, max_step=step)
    if type(explicit) is bool:
        limits = msgspec.structs.replace(limits, explicit=explicit)
    return limits
