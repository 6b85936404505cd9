"""Random schedules: each primitive is refused, or keeps what the function computes.

A table holds, for each primitive, a function that draws a call of it; a primitive without one fails
a test. Reading order: site (where a primitive is tried), loop_draws, mark_draws, block_draws,
buffer_draws, lookup_draws (one function a primitive), draw_table, attempt (one call),
schedule_samples, stage_schedules.
"""
