"""The text of graph IR.

Reading order: printer, type_printer; reader (functions and suites), step_reader (types and
right-hand sides).
"""
