"""Parallel loops.

Reading order: pool (how threads share a loop), pool_text (its LLVM IR), parallel_loops (a loop body
as a function that the pool runs).
"""
