"""Mutants tried by the checks on fixed programs."""

from collections.abc import Iterator, Sequence

import msgspec

from irkit.fuzz.mutation.fork_server import ForkServer, TrialOrder
from irkit.fuzz.mutation.mutants.mutant import Mutant
from irkit.fuzz.mutation.trials.check_programs import TrialResult


class MutantResult(msgspec.Struct, frozen=True):
    """What became of a mutant.

    It is ``found``; or ``missed``, if it computes something else and the checks did not notice; or
    ``other``, if programs are lowered differently but mean the same; or ``unseen``, if no program
    is lowered differently, so that it may be equivalent.
    """

    mutant: Mutant
    finding: TrialResult

    @property
    def status(self) -> str:
        """Return which of the four it is."""
        if self.finding.found:
            return "found"
        if self.finding.missed:
            return "missed"
        return "other" if self.finding.differs else "unseen"


def try_mutants(server: ForkServer, chosen: Sequence[Mutant]) -> Iterator[MutantResult]:
    """Try mutants, one at a time."""
    for mutant in chosen:
        yield MutantResult(mutant, server.try_out(TrialOrder(mutant.module, mutant.source)))
