"""Schedules for what nobody scheduled: chosen by the structure of loops and a machine's sizes."""

from irkit.autoschedule.auto_schedule import (
    VECTOR_BYTES as VECTOR_BYTES,
    auto_schedule as auto_schedule,
)
