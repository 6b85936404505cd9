"""Programs written by hand: generators start from them, malformed input damages them, and mutation
testing lowers them.

Reading order: kernels, thread_kernels, block_programs, edge_cases, value_edge_cases, graphs,
schedules.
"""
