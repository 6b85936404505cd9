"""Functions run on inputs.

Reading order: parameter_roles (what the values of a parameter decide), edge_values, inputs
(arguments made up for a function), many_values (an expression on a whole batch), edge_sizes,
covering_array (pairs of values), row_patterns, edge_inputs, guard_pages (native code between
protected pages, in a child), native_worker (that child), executors (interpreter or native code, and
the outcome); instruction_check (the code of an instruction against its meaning).
"""
