"""Whole modules of LLVM IR.

Reading order: module (kernels), stub (the function that Python calls), executor (the function that
runs a model).
"""
