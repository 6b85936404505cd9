"""Passes and kernels in a child process, which can crash without harm to this one. Reading order:
trace_step (how IR crosses over), pass_worker (the side of the child), passes, kernels."""
