"""Random schedules: each primitive is refused or keeps the meaning. Reading order: site (where a
primitive is tried), loop_draws, mark_draws, block_draws, buffer_draws, other_draws (one function a
primitive), drawers (the table), attempt (one call), trials (what is checked)."""

from irkit.fuzz.generators.schedules.attempt import (
    OFTEN,
    WrongSchedule,
    size_of,
    try_primitive,
    wrong_schedule,
)
from irkit.fuzz.generators.schedules.draw_table import DRAWERS, WITHOUT
from irkit.fuzz.generators.schedules.trials import ScheduleTally, try_schedule, try_schedules

__all__ = [
    "DRAWERS",
    "OFTEN",
    "WITHOUT",
    "ScheduleTally",
    "WrongSchedule",
    "size_of",
    "try_primitive",
    "try_schedule",
    "try_schedules",
    "wrong_schedule",
]
