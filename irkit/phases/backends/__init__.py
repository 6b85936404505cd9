"""Backends: code generators of users' own for parts of a graph.

Reading order: claims (what a backend is asked for, and gives), partition (which parts of a graph it
gets), backend (the two together, as ``define_backend`` makes them), claimed_kernels (its code as
object files of the model), claim_check (whether the code is right).
"""
