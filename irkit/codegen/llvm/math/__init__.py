"""Intrinsic functions: which is an instruction, an expansion of ``irkit/codegen/math``, or a call
of the C library.
"""
