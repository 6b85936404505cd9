"""Passes that replace what a target lacks, the last ones before code generation.

Reading order: expand_functions.
"""
