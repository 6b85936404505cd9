"""Reductions that run in lanes along rows or along columns.

Reading order: choices (steps that choose one of two elements), lanes (along a row), columns, stages
(all that one row of a result needs).
"""

from irkit.autoschedule.rows.columns import schedule_columns as schedule_columns
from irkit.autoschedule.rows.lanes import (
    is_contiguous as is_contiguous,
    reduce_in_lanes as reduce_in_lanes,
    row_axis_of as row_axis_of,
)
from irkit.autoschedule.rows.stages import schedule_row as schedule_row
