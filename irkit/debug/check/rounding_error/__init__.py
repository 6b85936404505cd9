"""How far rounding can take each float of a program.

Reading order: error_rules (one operation), running_error (a program that computes its own errors),
precision (bounds on results).
"""
