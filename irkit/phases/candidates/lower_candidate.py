"""The way of one candidate through the phases, which worker processes import by name."""

from functools import cache

from irkit.core import Target
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.phases.default import DEFAULT
from irkit.phases.legalize import LEGALIZE
from irkit.phases.schedule_choice import machine_of, with_auto_schedule
from irkit.phases.target_phases import phases_of
from irkit.transform import Pipeline, Trace, recorded


def lower_candidate(func: PrimFunc) -> PrimFunc:
    """Lower scheduled loops until code can be emitted, as ``irkit.build`` does, but without its
    verifier after each pass: results of candidates are compared."""
    return _lowering().run(func, verify=False)


@cache
def _lowering() -> Pipeline:
    """Return the phases of this machine, on which candidates are measured."""
    return phases_of(Target(), DEFAULT.then(LEGALIZE))


def lowering_trace(func: PrimFunc, schedule: str) -> Trace:
    """Return what a recorded schedule (its steps as JSON), and each pass after it, does to a
    function that nobody has scheduled."""
    machine = machine_of("host", Target())
    steps = with_auto_schedule(_lowering(), machine, fewest=0, trace=schedule).steps(func)
    return Trace.of(recorded(steps, (LOOP_LEVEL,)), title=func.name)
