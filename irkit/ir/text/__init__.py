"""The text of loop IR: Python syntax that reads back as the same function.

Printing: printer (functions), stmt_printer, expr_printer, attributes, names (the order of names),
memo (lines printed before). Reading, a line at a time, without executing anything: reader
(functions), param_reader, stmt_reader, suites (open blocks), part_reader, call_reader, expr_reader.

A bare integer is i64 in printed text, and every other constant names its type. Each node has one
form: ``f32(0.5)`` is a constant and ``cast(x, f32)`` a conversion, ``-1`` a constant and ``neg(1)``
an operation. A name that is no identifier is mangled, and stands beside it in ``names(x_0="x:0")``.
``memo`` keeps what was printed of a function, because most of it is the same after a pass.
"""
