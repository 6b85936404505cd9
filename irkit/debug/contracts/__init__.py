"""Contracts that every pass must keep, tried on programs.

Reading order: breach (the result), levels, process_state (what else a pass may not change), trial
(one pass on one program), hash_seeds (the same in another process), contracts.
"""
