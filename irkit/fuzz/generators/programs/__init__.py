"""Samples that are programs.

A program with special values has the attribute `contract: False`: whether an unrounded product
overflows is not defined. Reading order: lanes, function_samples, seed_functions, program_samples.
"""
