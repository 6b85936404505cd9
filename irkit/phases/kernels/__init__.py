"""The kernels of a model, from loops as scheduled to object files.

Reading order: kernel_code (one kernel: what is to be done, what comes out), kernel_cache (by what
it is kept), compiled_kernels (those of a model, from the cache, or by processes side by side),
model_steps (the steps of a compilation, some of them made when they are asked for).
"""
