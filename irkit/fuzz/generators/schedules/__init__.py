"""Random schedules: each primitive is refused or keeps the meaning. Reading order: site (where a
primitive is tried), loop_draws, mark_draws, block_draws, buffer_draws, other_draws (one function a
primitive), drawers (the table), attempt (one call), trials (what is checked)."""

from irkit.fuzz.generators.schedules.attempt import (
    OFTEN as OFTEN,
    WrongSchedule as WrongSchedule,
    size_of as size_of,
    try_primitive as try_primitive,
    wrong_schedule as wrong_schedule,
)
from irkit.fuzz.generators.schedules.draw_table import (
    DRAWERS as DRAWERS,
    WITHOUT as WITHOUT,
)
from irkit.fuzz.generators.schedules.trials import (
    ScheduleTally as ScheduleTally,
    try_schedule as try_schedule,
    try_schedules as try_schedules,
)
