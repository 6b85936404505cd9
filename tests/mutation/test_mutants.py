"""Mutants are reproducible, and the checks find those that change meaning."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from irkit.core import IRKitError
from tests.mutation.changes.modules import FAMILIES, MODULES
from tests.mutation.changes.mutant import mutants, mutants_by_turns, mutants_of
from tests.mutation.changes.sample import MutantName, find_mutant, read_sample, save_sample
from tests.mutation.changes.sites import sites
from tests.mutation.runs.check_runs import mutant_results, mutant_score


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


@pytest.mark.long
def test_a_sample_is_found_again_by_definition_and_change(tmp_path: Path) -> None:
    everything = [mutant for module in MODULES for mutant in mutants_of(module)]
    alike = [mutant for mutant in everything if mutant.nth]
    assert alike
    chosen = [*mutants(5, 30), *alike[:5]]
    save_sample(tmp_path / "sample", chosen)
    names = read_sample(tmp_path / "sample")
    assert [find_mutant(name) for name in names] == chosen
    named = {(each.module, each.definition, each.what, each.nth) for each in everything}
    assert len(named) == len(everything)


def test_a_mutant_is_found_where_its_definition_is_now_or_is_gone() -> None:
    mutant = next(iter(mutants(5, 1)))
    name = MutantName(mutant.module, mutant.definition, mutant.what, mutant.nth)
    assert find_mutant(replace(name, module="irkit.gone.elsewhere")) == mutant
    assert find_mutant(replace(name, module="irkit.ir.expr")) == mutant
    assert find_mutant(replace(name, what="1  ->  2")) is None
    assert find_mutant(replace(name, definition="no_such_definition")) is None


def test_a_list_that_names_a_module_that_is_gone_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = "irkit.gone.unroll_loops"
    monkeypatch.setitem(FAMILIES, "unroll", (*FAMILIES["unroll"], gone))
    with pytest.raises(
        IRKitError, match=f"the family 'unroll' .*: there is no module {gone}"
    ) as it:
        list(mutants_by_turns(0, 50, list(FAMILIES.values())))
    assert it.value.hint == "There is irkit.passes.loop.loops.unroll_loops."
