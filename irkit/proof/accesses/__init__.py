"""Proofs that no access leaves its buffer, for all inputs and all sizes.

Reading order: guarded_accesses (each access, with what holds there), sized_integers (integers whose
sums are shown not to overflow), conditions (what holds, in a solver), questions (one access as a
question to z3), witness (the arguments that a model stands for, and what the interpreter says),
bounds.
"""

from irkit.proof.accesses.bounds import (
    AccessBounds as AccessBounds,
    check_bounds as check_bounds,
)
