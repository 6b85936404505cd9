"""Loops to unroll without a mark, chosen by the size of their copies.

Inner loops come first: a loop is chosen by the number of stores in its body once they are unrolled,
and by whether another loop is left in it.
"""

import msgspec

from irkit.core import allowed, deep_recursion, remark, walk
from irkit.ir import Evaluate, For, PrimFunc, Stmt, Store, map_below, trip_count

STEP_HINT = "auto_unroll_max_step"
EXPLICIT_HINT = "unroll_explicit"


class UnrollLimits(msgspec.Struct, frozen=True):
    """Limits for loops that are unrolled without a mark; ``explicit`` tells whether to unroll at
    all."""

    max_step: int
    max_depth: int
    max_extent: int
    explicit: bool


class UnrolledSize(msgspec.Struct, frozen=True):
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
    with deep_recursion:
        return func.replace(body=_marked(func.body, limits)[0])


def _marked(stmt: Stmt, limits: UnrollLimits) -> tuple[Stmt, UnrolledSize]:
    if isinstance(stmt, For):
        limits = _hinted(stmt, limits)
    inside: list[UnrolledSize] = []

    def marked(part: Stmt) -> Stmt:
        made, size = _marked(part, limits)
        inside.append(size)
        return made

    made = map_below(stmt, marked)
    size = UnrolledSize(
        isinstance(stmt, (Store, Evaluate)) + sum(each.steps for each in inside),
        max((each.depth for each in inside), default=0),
        any(each.has_loop for each in inside),
    )
    return _marked_loop(made, size, limits) if isinstance(made, For) else (made, size)


def _marked_loop(loop: For, size: UnrolledSize, limits: UnrollLimits) -> tuple[For, UnrolledSize]:
    """Mark a loop around statements of a size."""
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
        return loop, UnrolledSize(size.steps * extent, size.depth + 1, size.has_loop)
    return loop, UnrolledSize(size.steps, size.depth, has_loop=True)


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
