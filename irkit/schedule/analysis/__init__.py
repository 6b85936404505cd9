"""Facts that primitives need; nothing here changes the IR.

Reading order: accesses, guards, ranges, domain (at which points a block runs) with grid_eval,
solve_axes, reduction_steps, intrinsic_match. Which part of a buffer a loop touches and what a block
accumulates is in ``irkit.ir.analysis``.
"""
