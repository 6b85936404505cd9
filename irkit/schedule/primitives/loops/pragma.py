"""The primitive pragma: add a hint that lowering honours to a loop."""

from irkit.core import ScheduleError
from irkit.ir import PrimFunc, Var
from irkit.schedule.primitives.loops.annotate import annotate
from irkit.schedule.state.lookup import find_loop

PRAGMAS: dict[str, type[int] | type[bool]] = {
    "auto_unroll_max_step": int,
    "parallel_chunks": int,
    "parallel_least": int,
    "unroll_explicit": bool,
}
"""The hints that lowering and code generation honour, with the type of the value."""


def pragma(func: PrimFunc, var: Var, key: str, value: int | bool) -> PrimFunc:
    """Add a hint that lowering honours to a loop.

    Raises: ScheduleError if the key is unknown or the value has another type.
    """
    loop, expected = find_loop(func, var), PRAGMAS.get(key)
    if expected is None:
        raise ScheduleError(
            f"unknown pragma {key!r}",
            hint=f"Known pragmas: {', '.join(PRAGMAS)}. Use annotate for hints to your own passes.",
            at=loop,
        )
    if type(value) is not expected or value < 0:  # isinstance accepts a bool as an int.
        raise ScheduleError(
            f"the pragma {key!r} must be a non-negative {expected.__name__}, found {value!r}",
            at=loop,
        )
    return annotate(func, loop, key, value)
