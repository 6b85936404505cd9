"""The primitive pragma: give a loop a hint that lowering honours."""

from irkit.core import ScheduleError
from irkit.ir import PrimFunc, Var
from irkit.schedule.primitives.loops.annotate import annotate
from irkit.schedule.state.lookup import find_loop

PRAGMAS: dict[str, type[int] | type[bool]] = {
    "auto_unroll_max_step": int,
    "parallel_chunks": int,
    "unroll_explicit": bool,
}
"""What lowering and code generation honour on a loop, and the type of its value."""


def pragma(func: PrimFunc, var: Var, key: str, value: int | bool) -> PrimFunc:
    """Give a loop a hint that is honoured.

    Raises: ScheduleError if none does, or the value is of another type.
    """
    loop, expected = find_loop(func, var), PRAGMAS.get(key)
    if expected is None:
        raise ScheduleError(
            f"nothing honours the pragma {key!r}",
            hint=f"Known are: {', '.join(PRAGMAS)}. Use annotate for hints to passes of your own.",
            at=loop,
        )
    if type(value) is not expected or value < 0:  # A bool is an int to isinstance.
        raise ScheduleError(
            f"the pragma {key!r} is a {expected.__name__}, not negative, found {value!r}", at=loop
        )
    return annotate(func, loop, key, value)
