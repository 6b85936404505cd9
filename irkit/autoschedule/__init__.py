"""Schedules for what nobody scheduled: chosen by the structure of loops and a machine's sizes."""

from irkit.autoschedule.auto_schedule import (
    INTERNAL as INTERNAL,
    auto_schedule as auto_schedule,
    automatic_schedule as automatic_schedule,
)
from irkit.autoschedule.machine import (
    GENERIC as GENERIC,
    Machine as Machine,
)
from irkit.autoschedule.products import (
    tiled_product as tiled_product,
)
