"""Mutants are reproducible, and the checks find those that change meaning."""

import os

import pytest

from irkit.fuzz.mutation.mutants.mutant import mutants
from irkit.fuzz.mutation.mutants.sites import sites
from irkit.fuzz.mutation.mutants.targets import MODULES
from irkit.fuzz.mutation.runner.check_score import mutant_results, mutant_score


def test_mutants_are_the_same_for_the_same_seed_and_differ_from_the_source() -> None:
    first, again = list(mutants(3, 20)), list(mutants(3, 20))
    assert first == again
    assert list(mutants(4, 20)) != first
    for mutant in first:
        compile(mutant.source, mutant.module, "exec")
        assert "  ->  " in mutant.what


def test_every_module_has_a_node_to_change() -> None:
    assert [module for module in MODULES if not sites(module)] == []


@pytest.mark.long
def test_mutants_that_change_meaning_are_found() -> None:
    chosen = list(mutants(int(os.environ.get("IRKIT_SEED", "0")), 150))
    verdicts = list(mutant_results(chosen, jobs=2))
    print(mutant_score(verdicts))  # noqa: T201 -- the figure is wanted
    found = sum(verdict.status == "found" for verdict in verdicts)
    missed = [f"{v.mutant}: {v.finding}" for v in verdicts if v.status == "missed"]
    assert found >= 0.95 * (found + len(missed)), missed
    assert found >= 40
