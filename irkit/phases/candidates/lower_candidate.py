"""The way of one candidate through the phases, which worker processes import by name."""

from irkit.core import Target
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.phases.default import DEFAULT
from irkit.phases.legalize import LEGALIZE
from irkit.phases.schedule_choice import machine_of, with_auto_schedule
from irkit.transform import Trace, recorded

_LOWERING = DEFAULT.then(LEGALIZE)


def lower_candidate(func: PrimFunc) -> PrimFunc:
    """Lower scheduled loops until code can be emitted, as ``irkit.build`` does, but without its
    verifier after each pass: results of candidates are compared."""
    return _LOWERING.run(func, verify=False)


def lowering_trace(func: PrimFunc, schedule: str) -> Trace:
    """Return what a recorded schedule (its steps as JSON), and each pass after it, does to a
    function that nobody has scheduled."""
    machine = machine_of("host", Target())
    steps = with_auto_schedule(_LOWERING, machine, fewest=0, trace=schedule).steps(func)
    return Trace.of(recorded(steps, (LOOP_LEVEL,)), title=func.name)
