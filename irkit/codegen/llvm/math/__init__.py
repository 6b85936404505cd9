"""Intrinsic functions: which is an instruction, an expansion of ``irkit/ir/math``, or a function
of the module.
"""
