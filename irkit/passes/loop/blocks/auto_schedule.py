"""Schedule a function that nobody has scheduled, by the structure of its loops.

Before::

    @attrs(unscheduled=True)
    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 64):
            with block("C"):
                v = axis.spatial(64, i)
                C[v] = A[v] + f32(1.0)

After::

    def f(A: f32[64], C: f32[64]):
        for i_0 in serial(0, 4):
            for i_1 in vectorized(0, 16):
                with block("C"):
                    v = axis.spatial(64, i_0 * 16 + i_1)
                    C[v] = A[v] + f32(1.0)

Functions without the attribute stay as they are. ``trace`` has the steps of a schedule that a
search found, which is used instead of the rules if all its steps are legal here. A remark has the
schedule as Python over a schedule named ``sch``, to be pasted and changed; others say which rules
do not apply, and why.
"""

from typing import Any

from irkit.autoschedule import Machine, automatic_schedule
from irkit.core import FormatError, ScheduleError, fresh, remark
from irkit.ir import PrimFunc, is_unscheduled, seq
from irkit.schedule import Schedule, ScheduleTrace
from irkit.transform import define_pass


# Atomic: a primitive is legal only after those before it.
@define_pass(idempotent=True, atomic=True, changes_rounding=True)
def auto_schedule(
    func: PrimFunc,
    *,
    machine: tuple[tuple[str, Any], ...] = (),
    fewest: int = 0,
    written_first: bool = False,
    trace: str = "",
) -> PrimFunc:
    """Schedule a function that nobody has scheduled, by rules from the structure of its loops.

    ``machine`` has the fields in which the machine differs from the generic one; a function of
    fewer than ``fewest`` operations stays as written; ``written_first`` runs the loops as written
    before the scheduled ones, so that checks of bounds find an index where the user wrote it.
    ``trace`` is the JSON of a schedule's steps.
    """
    sch = _recorded(func, trace) if trace and is_unscheduled(func) else None
    if sch is None:
        sch = automatic_schedule(func, Machine.of_settings(machine), fewest=fewest)
    if sch is None:
        return func
    remark(
        func, f"the schedule, over sch = irkit.Schedule(func):\n{sch.trace.as_python()}".rstrip()
    )
    if not written_first:
        return sch.func
    return sch.func.replace(body=seq(fresh(func.body), sch.func.body))


def _recorded(func: PrimFunc, trace: str) -> Schedule | None:
    """Return the schedule with these steps; None, and a remark, if they are not legal here."""
    sch = Schedule(func)
    try:
        sch.replay(ScheduleTrace.from_json(trace))
    except (ScheduleError, FormatError) as error:
        remark(func, f"the recorded schedule does not apply: {error.message}")
        return None
    return sch
