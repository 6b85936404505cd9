"""Facts that primitives need; nothing here changes the IR.

Reading order: accesses, guards, ranges, domain (at which points a block runs) with grid_eval,
touched_regions (which part of a buffer a loop touches), solve_axes, accumulation, combine,
reduction_steps, intrinsic_match.
"""
