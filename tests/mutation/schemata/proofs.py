"""Proofs of irkit's arithmetic, run with a mutant on: one that they refute is found."""

from collections.abc import Callable, Sequence

from tests.mutation.schemata.campaign import Tally


def prove_rest(tallies: Sequence[Tally], progress: Callable[[str], object]) -> None:
    """Run the proofs for each mutant of arithmetic that no case found."""
