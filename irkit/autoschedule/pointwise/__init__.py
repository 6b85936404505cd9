"""Pointwise stages in vectors, those of a stencil by several rows.

Reading order: stencil_rows (how many rows), vectors (the rule).
"""

from irkit.autoschedule.pointwise.stencil_rows import (
    CALLED as CALLED,
    COMPARED as COMPARED,
    STEP_CYCLES as STEP_CYCLES,
    row_works as row_works,
    stencil_rows as stencil_rows,
)
from irkit.autoschedule.pointwise.vectors import (
    schedule_pointwise as schedule_pointwise,
    vectorize_last as vectorize_last,
)
