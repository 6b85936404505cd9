"""Schedules for what nobody scheduled: chosen by the structure of loops and a machine's sizes."""

from irkit.autoschedule.auto_schedule import (
    auto_schedule as auto_schedule,
)
from irkit.autoschedule.machine import (
    GENERIC as GENERIC,
    Machine as Machine,
)
