"""Random schedules: each primitive is refused or keeps the meaning. Reading order: site (where a
primitive is tried), loop_draws, mark_draws, block_draws, buffer_draws, other_draws (one function a
primitive), drawers (the table), attempt (one call), trials (what is checked)."""

from irkit.fuzz.schedule_draws.attempt import OFTEN, Wrong, size_of, try_primitive, wrong
from irkit.fuzz.schedule_draws.drawers import DRAWERS, WITHOUT
from irkit.fuzz.schedule_draws.trials import Tally, try_schedule, try_schedules

__all__ = [
    "DRAWERS",
    "OFTEN",
    "WITHOUT",
    "Tally",
    "Wrong",
    "size_of",
    "try_primitive",
    "try_schedule",
    "try_schedules",
    "wrong",
]
