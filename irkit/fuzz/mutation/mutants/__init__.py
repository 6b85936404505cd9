"""Mutants: random changes to the source.

Reading order: targets and families (which modules), sites (which nodes), mutant.
"""

from irkit.fuzz.mutation.mutants.mutant import mutants as mutants
