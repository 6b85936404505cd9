"""Facts that primitives need; nothing here changes the IR.

Reading order: accesses, guards, ranges, sizes; index_digits (by algebra), grid_eval (by points) and
injective, which asks both; domain (at which points a block runs), solve_axes, reduction_steps,
intrinsic_match. Which part of a buffer a loop touches and what a block accumulates is in
``irkit.ir.analysis``.
"""
