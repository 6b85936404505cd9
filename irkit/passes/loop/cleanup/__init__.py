"""Passes that simplify expressions and statements, and remove statements without effect.

Reading order: simplify, narrow_indices, remove_no_ops, rewrite_unsafe_selects,
eliminate_common_subexpressions; optional: convert_ssa.
"""
