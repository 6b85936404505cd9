"""How far rounding can take each float of a program.

Reading order: bounded (a float and its error), error_rules (one operation), running_error (a
program that computes its own errors), precision (bounds on results).
"""
