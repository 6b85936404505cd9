"""The primitive loop_partition: replace a loop by consecutive loops of given lengths."""

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
    """Replace a loop by consecutive loops over parts of its range, each with a copy of the body.

    The first keeps its variable and the names of its blocks; the blocks of the others are numbered.
    Raises: ScheduleError if the loop is marked or does not start at 0, if the parts are not shown
    to make up the range, or if a reduction might start again in a later part.
    """
    loop = find_plain_loop(func, var, "partition")
    if not factors:
        raise ScheduleError(f"cannot partition {var.name!r} into no parts", at=loop)
    return consecutive_loops(func, loop, _limits(func, loop, factors), "loop_partition")


def _limits(func: PrimFunc, loop: For, factors: Sequence[Factor]) -> list[Expr]:
    """Find where parts of these lengths end and the next begin; at most one length is None."""
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
        length = index_for(factor if factor is not None else 0, loop)
        found.append(simplify(found[-1] + length) if found else length)
    return found
