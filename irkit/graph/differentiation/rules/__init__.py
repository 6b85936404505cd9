"""Rules of differentiation, in the families of ``irkit.graph.ops``.

At a tie or a kink a rule gives what PyTorch gives.
"""
