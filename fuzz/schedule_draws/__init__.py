"""Random schedules: each primitive is refused or keeps the meaning. Reading order: site (where a
primitive is tried), loop_draws, mark_draws, block_draws, buffer_draws, other_draws (one function a
primitive), drawers (the table), trials (what is checked)."""

from irkit.fuzz.schedule_draws.drawers import DRAWERS, WITHOUT
from irkit.fuzz.schedule_draws.trials import Tally, Wrong, try_schedule, try_schedules

__all__ = ["DRAWERS", "WITHOUT", "Tally", "Wrong", "try_schedule", "try_schedules"]
