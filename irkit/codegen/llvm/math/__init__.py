"""Intrinsic functions, one file for each family of transcendental functions.

Reading order: exponentials, logarithms, trigonometry, inverse_trigonometry; polynomials (their
table, with error bounds); intrinsics (which function becomes an instruction, a polynomial or a
call).
"""
