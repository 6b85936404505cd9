"""Passes that replace what a target lacks, the last ones before code generation.

Reading order: widen_floats, widen_shifts, narrow_addresses, expand_conversions, split_vectors,
expand_functions.
"""
