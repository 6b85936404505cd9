"""Samples that call operators of topi as users do, with what no operator of a graph uses; whole
numbers, with NumPy beside each.

A test asks that each public operator is drawn here or as a graph. Reading order: pointwise,
structured (the table), operator_samples.
"""
