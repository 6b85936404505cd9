"""Passes that replace what a target lacks, the last ones before code generation.

Reading order: widen_shifts, expand_functions.
"""
