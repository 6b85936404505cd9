"""The primitives parallel, vectorize and unroll: mark how the iterations of a loop run."""

from irkit.core import ScheduleError
from irkit.ir import LoopKind, PrimFunc, Var, replace_stmts
from irkit.schedule.checks.independence import check_independent
from irkit.schedule.state.lookup import find_loop


def mark(func: PrimFunc, var: Var, kind: LoopKind) -> PrimFunc:
    """Mark a loop parallel, vectorized or unrolled (or serial again).

    Raises: ScheduleError where the iterations of a parallel or vectorized loop cannot be proved to
    be independent (a reduction uses the loop, or two of them may access the same element), and for
    a thread loop.
    """
    loop = find_loop(func, var)
    if loop.kind == "thread":
        raise ScheduleError(
            f"cannot make {var.name!r} {kind}: it is bound to {loop.thread}", at=loop
        )
    if kind in ("parallel", "vectorized"):
        check_independent(func, loop, f"make {var.name!r} {kind}")
    return replace_stmts(func, {loop: loop.replace(kind=kind)})
