"""Sizes that are known at the call: dimensions, and the arithmetic that kernels need.

Reading order: kernel_sizes, computed_sizes, kernel_arguments, dimensions, largest.
"""
