"""The text of loop IR: Python syntax that reads back as the same function.

Printing: printer (functions), stmt_printer, expr_printer, attributes, names (the order of names),
memo (lines printed before). Reading, a line at a time, without executing anything: reader
(functions), param_reader, stmt_reader, suites (open blocks), part_reader, call_reader, expr_reader.
"""
