"""Passes and kernels in a child process, which can crash without harm to this one.

Reading order: trace_step (IR as a step that can be sent), pass_worker (the child's side), passes,
kernels.
"""
