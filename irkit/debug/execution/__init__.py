"""Functions run on inputs.

Reading order: inputs (arguments made up for a function), edge_inputs, guard_pages (native code
between protected pages, in a child), native_worker (that child), executors (interpreter or native
code, and the outcome).
"""
