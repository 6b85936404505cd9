"""Kinds of expressions that take more than an operator of C.

Reading order: conversions (between types), contraction (sums of products), conditionals (one side
is evaluated), instruction_calls.
"""
