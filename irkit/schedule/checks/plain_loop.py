"""Find a loop that can be rebuilt: unmarked, or unmarked and starting at 0."""

from irkit.core import ScheduleError
from irkit.ir import For, PrimFunc, Var, is_const
from irkit.schedule.state.lookup import find_loop


def find_unmarked_loop(func: PrimFunc, var: Var, primitive: str) -> For:
    """Return the unmarked loop of a variable.

    Raises: ScheduleError if it is not serial or is annotated: the mark might not hold for the new
    loops.
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
    """Return the unmarked loop of a variable that starts at 0; raise ScheduleError if it does
    not."""
    loop = find_unmarked_loop(func, var, primitive)
    if not is_const(loop.begin, 0):
        raise ScheduleError(f"cannot {primitive} {var.name!r}: it does not start at 0", at=loop)
    return loop
