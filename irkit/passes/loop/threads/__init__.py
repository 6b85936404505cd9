"""Passes over loops that are bound to threads of a grid.

Reading order, that of the phases: lower_cross_thread_reduction, unify_thread_bindings;
inject_virtual_threads, thread_sync, lower_thread_loops.
"""
