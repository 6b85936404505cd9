"""The primitive loop_partition: partition a loop into consecutive loops."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import (
    Expr,
    For,
    PrimFunc,
    Var,
    as_int,
    bounds,
    const,
    eq,
    le,
    loop_ranges,
    prove,
    simplify,
)
from irkit.schedule.checks.plain_loop import find_plain_loop
from irkit.schedule.primitives.loops.split import Factor
from irkit.schedule.rewrite.consecutive_loops import consecutive_loops, index_for


def loop_partition(
    func: PrimFunc, var: Var, factors: Sequence[Factor]
) -> tuple[PrimFunc, list[Var]]:
    """Partition a loop into consecutive loops of the given lengths, each with a copy of the body.

    The first keeps its variable and the names of its blocks; the blocks of the others are numbered.
    Raises: ScheduleError if the loop is marked or does not start at 0, if the parts cannot be
    proved to cover the range, or if a later part might initialise a reduction again.
    """
    loop = find_plain_loop(func, var, "partition")
    if not factors:
        raise ScheduleError(f"cannot partition {var.name!r} into no parts", at=loop)
    return consecutive_loops(func, loop, _limits(func, loop, factors), "loop_partition")


def _limits(func: PrimFunc, loop: For, factors: Sequence[Factor]) -> list[Expr]:
    """Return the boundaries between parts of the given lengths; at most one length can be None."""
    ranges = loop_ranges(func)
    unknown = [at for at, factor in enumerate(factors) if factor is None]
    if len(unknown) > 1:
        raise ScheduleError("loop_partition takes at most one factor that is None", at=loop)
    zero = const(0, loop.var.dtype)
    for factor in factors:
        least = 1 if factor is None else bounds(index_for(factor, loop), ranges).low
        if least is None or least < 1:
            raise ScheduleError(f"partition factors must be positive, found {factor}", at=loop)
    split = unknown[0] if unknown else len(factors)
    front, back = _sums(loop, factors[:split]), _sums(loop, factors[split + 1 :][::-1])
    limits = [*front, *(simplify(loop.end - part, ranges) for part in reversed(back))]
    if not unknown:
        if not prove(eq(front[-1], loop.end), ranges):
            raise ScheduleError(
                f"cannot partition {loop.var.name!r}: the parts cannot be proved to add up to its "
                "extent",
                hint="Pass None for one factor to have it computed.",
                at=loop,
            )
        return limits[:-1]
    before, after = (front[-1] if front else zero), (back[-1] if back else zero)
    rest = as_int(simplify(loop.end - before - after, ranges))
    symbolic_tail = rest is None and not back  # A short loop can end inside the first parts.
    if not symbolic_tail and (
        rest == 0 or not prove(le(before, simplify(loop.end - after, ranges)), ranges)
    ):
        raise ScheduleError(
            f"cannot partition {loop.var.name!r}: the parts cannot be proved to fit its extent",
            at=loop,
        )
    return limits


def _sums(loop: For, factors: Sequence[Factor]) -> list[Expr]:
    found: list[Expr] = []
    for factor in factors:
        length = index_for(factor if factor is not None else 0, loop)
        found.append(simplify(found[-1] + length) if found else length)
    return found
