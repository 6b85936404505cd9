"""Functions run on inputs.

Reading order: inputs (arguments made up for a function), guard_pages and native_calls (native code
between protected pages, in a child), native_worker (that child), executors (interpreter or native
code, and the outcome).
"""
