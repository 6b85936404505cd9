"""Code that passes over loops use and that is not an analysis; it defines no pass.

Reading order: loop_guards and loop_parts (loop_partition), thread_barriers (thread_sync,
unify_thread_bindings), unroll_marks (unroll_loops), lane_vectorizer (vectorize_loops), one_lane and
view_bounds (instrument_bounds), evaluated (expand_functions, expand_conversions), vector_parts
(split_vectors).
"""
