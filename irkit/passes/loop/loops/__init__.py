"""Passes over loops and the conditions inside them.

Reading order, that of the phases: canonicalize_loops; loop_partition, hoist_first_iterations,
serialize_inner_parallel_loops, vectorize_loops, hoist_if_then_else, unroll_loops; optional:
convert_for_loops_to_serial, time_loops.
"""
