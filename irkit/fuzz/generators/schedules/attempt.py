"""One call of a primitive on a schedule: it is refused and changes nothing, or succeeds."""

from irkit.core import ScheduleError, walk
from irkit.fuzz.generators.schedules import lookup_draws, mark_draws
from irkit.fuzz.generators.schedules.draw_table import DRAWERS
from irkit.fuzz.generators.schedules.site import Site
from irkit.fuzz.picks import Picks
from irkit.ir import Block, PrimFunc, script
from irkit.schedule import Schedule

# Names that occur more than once in the list are drawn more often.
_SELDOM = (lookup_draws, mark_draws)
OFTEN = [
    name
    for name, drawer in DRAWERS.items()
    for _ in range(1 if drawer.__module__ in [each.__name__ for each in _SELDOM] else 4)
]
"""The primitives; one that occurs more often is drawn more often."""


class WrongSchedule(AssertionError):
    """A schedule that changed what a function computes, or failed other than by ScheduleError;
    ``size`` counts the stages and the steps so far, if known."""

    size: tuple[int, int] = (0, 0)


def try_primitive(sch: Schedule, picks: Picks, name: str, func: PrimFunc) -> bool:
    """Call a primitive by name, and return whether it was accepted; ``func`` is the function that
    was scheduled.

    Raises: WrongSchedule if it was refused but changed something, or failed in another way.
    """
    before, steps = sch.func, len(sch.trace)
    try:
        DRAWERS[name](Site(sch, picks))
    except ScheduleError as error:
        if len(sch.trace) == steps and sch.func is not before:
            raise wrong_schedule("it was refused but changed something", sch, name, func) from error
        return False
    except Exception as error:
        raise wrong_schedule(f"{type(error).__name__}: {error}", sch, name, func) from error
    return True


def wrong_schedule(reason: str, sch: Schedule, name: str, func: PrimFunc) -> WrongSchedule:
    """Return the error for a wrong primitive, with the program and the schedule."""
    made = WrongSchedule(
        f"{name}: {reason}\n\n{sch.trace.as_python()}\nof\n\n{script(func)}\n"
        f"became\n\n{script(sch.func)}"
    )
    done = sum(not step.primitive.startswith("get_") for step in sch.trace.steps)
    made.size = sum(1 for _ in walk(func, on=Block)) or 1, done + 1  # The failed one counts too.
    return made
