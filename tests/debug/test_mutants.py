"""Changes that a seeded mutator makes to the passes that ship: found, if they change a meaning.

A mutant that makes the very same programs is no bug. One that makes others is held against many
more programs and inputs; if those find a fault that the usual check did not, it was missed.
"""

from collections import Counter
from collections.abc import Sequence

import pytest

from irkit.core import IRKitError
from irkit.debug import Verdict, check, contracts
from irkit.ir import PrimFunc, parse
from irkit.passes import BUILTIN
from irkit.phases import DEFAULT
from tests.debug.bugs import PROGRAMS
from tests.debug.mutants import Endless, Mutant, at_most, mutants
from tests.debug.programs import random_programs
from tests.passes.loop.kernels import KERNELS

SLOW = ("CONV_PADDED", "MAX_POOL", "TILED_MATMUL", "TILE", "FUSED_PRODUCER")


def corpus(count: int, leave_out: Sequence[str] = ()) -> list[PrimFunc]:
    """List programs, those that are quick to run first."""
    known = {name: text for name, text in (KERNELS | PROGRAMS).items() if name not in leave_out}
    texts = sorted(known.values(), key=len)
    return [*(parse(text.strip()) for text in texts), *random_programs(count)]


def first_wrong(programs: Sequence[PrimFunc], samples: int = 3, seed: int = 0) -> Verdict | None:
    for func in programs:
        for verdict in check(DEFAULT.steps(func), samples=samples, seed=seed):
            if not verdict.ok:
                return verdict
    return None


class Trial:
    """Try one mutant after the other; ``missed`` lists those that only more programs showed."""

    def __init__(self, programs: list[PrimFunc], more: Sequence[PrimFunc]) -> None:
        self.programs, self.more = programs, more
        self.texts = [DEFAULT.run(func).script() for func in programs]
        self.counts = Counter[str]()
        self.missed: list[str] = []

    def run(self, mutant: Mutant) -> None:
        with mutant.planted():
            try:
                with at_most(60):
                    self.counts[self._outcome(mutant)] += 1
            except Endless:
                self.counts["endless"] += 1

    def _outcome(self, mutant: Mutant) -> str:
        found = first_wrong(self.programs)
        if found is not None:
            if found.name not in mutant.blamed:
                self.missed.append(f"{mutant} was laid to {found}")
            return "found"
        if [DEFAULT.run(func).script() for func in self.programs] == self.texts:
            return "no effect"
        if any(self._breaks_promises(name) for name in mutant.blamed):
            return "found by contracts"
        found = first_wrong(self.more, samples=4, seed=7)
        if found is not None:
            self.missed.append(f"{mutant} was missed: {found}")
            return "missed"
        return "another program of the same meaning"

    def _breaks_promises(self, name: str) -> bool:
        p = next(each for each in BUILTIN if each.name == name)
        given = [
            step.before
            for func in self.programs
            for step in DEFAULT.steps(func)
            if step.name == name
        ]
        try:
            return bool(contracts(p, given, hash_seeds=(), fires=0, samples=1))
        except IRKitError:
            return True


def test_a_mutant_that_changes_a_meaning_is_found() -> None:
    trial = Trial(corpus(2, SLOW), ())
    for mutant in mutants(seed=5, count=8):
        trial.run(mutant)
    assert trial.missed == []
    assert trial.counts["found"] >= 3, trial.counts


@pytest.mark.long
def test_of_many_mutants_all_but_one_in_twenty_are_found() -> None:
    trial = Trial(corpus(25), random_programs(150))
    for mutant in mutants(seed=6, count=300):
        trial.run(mutant)
    wrong = trial.counts["found"] + len(trial.missed)
    assert len(trial.missed) <= wrong // 20, "\n".join(trial.missed)
    assert trial.counts["found"] >= 100, trial.counts
