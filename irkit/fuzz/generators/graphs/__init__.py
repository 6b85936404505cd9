"""Samples that are graphs: branches, functions, nested lets, tuples and symbolic extents.

Branches, and extents that no parameter of a kernel would bind, are not lowered to loops. Reading
order: values, operators, forms, meaning (the reference), graph_samples.
"""
