"""Arithmetic that never traps and rounds as specified.

Reading order: integer_ops, conversions (between number types), lane_ops (float arithmetic for
polynomials).
"""
