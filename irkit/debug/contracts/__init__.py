"""Contracts that every pass must keep, tried on programs.

Reading order: breach (the result), levels, trial (one pass on one program), hash_seed_child and
hash_seeds (the same in another process), contracts.
"""
