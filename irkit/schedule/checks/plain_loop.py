"""Find a loop that may be rebuilt: unmarked, or also starting at 0."""

from irkit.core import ScheduleError
from irkit.ir import For, PrimFunc, Var, is_const
from irkit.schedule.state.lookup import find_loop


def find_unmarked_loop(func: PrimFunc, var: Var, primitive: str) -> For:
    """Find a loop that is to be rebuilt.

    Raises: ScheduleError if it is not serial, or is annotated: what the mark says of the loop might
    not hold for what it becomes.
    """
    loop = find_loop(func, var)
    if loop.kind != "serial" or loop.attrs:
        marks = [loop.kind] * (loop.kind != "serial") + [key for key, _ in loop.attrs]
        raise ScheduleError(
            f"cannot {primitive} {var.name!r}: it is marked {' and '.join(marks)}",
            hint=f"{primitive.capitalize()} first, mark afterwards.",
            at=loop,
        )
    return loop


def find_plain_loop(func: PrimFunc, var: Var, primitive: str) -> For:
    """Find a loop that is unmarked and starts at 0; raises ScheduleError if it is not."""
    loop = find_unmarked_loop(func, var, primitive)
    if not is_const(loop.begin, 0):
        raise ScheduleError(f"cannot {primitive} {var.name!r}: it does not start at 0", at=loop)
    return loop
