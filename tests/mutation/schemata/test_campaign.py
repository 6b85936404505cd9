"""A campaign finds mutants that change what is computed, and reports none that change nothing."""

import json

import pytest

from tests.mutation.changes.mutant import Mutant, mutants_of
from tests.mutation.schemata.campaign import Campaign, Tally
from tests.mutation.schemata.messages import Found
from tests.mutation.schemata.proofs import PROVED_MODULES, refuting_test
from tests.mutation.schemata.report import json_report, status_of, text_report, why_missed


def mutant_of(module: str, definition: str, what: str) -> Mutant:
    """Return a mutant by its name."""
    found = [m for m in mutants_of(module) if (m.definition, m.what) == (definition, what)]
    assert found, f"{module}:{definition} has no {what!r} now"
    return found[0]


PLANTED = [
    mutant_of(
        "irkit.codegen.llvm.expressions.memory_access",
        *("to_memory", "dtype.is_bool  ->  not dtype.is_bool"),
    ),
    mutant_of(
        "irkit.ir.arith.ranges",
        *("_collect", "isinstance(node, For)  ->  isinstance(For, node)"),
    ),
]
HARMLESS = [
    # A size is bound for each dimension of the plan: a lenient zip gives the same.
    mutant_of("irkit.runtime.call_sizes", "SizeProgram._bound", "True  ->  False"),
    # Called in a model that was read: what verifies, verifies.
    mutant_of("irkit.graph.verify", "verify", "isinstance(func, GraphFunc)  ->  False"),
]


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    """Judge planted mutants, which are found, and harmless ones, which are not."""
    with Campaign([*PLANTED, *HARMLESS], 5) as made:
        made.load()
        made.run_cases(11, float("inf"))
    return made


@pytest.mark.long
def test_planted_mutants_are_found_within_a_few_cases(campaign: Campaign) -> None:
    for tally in campaign.tallies[: len(PLANTED)]:
        assert status_of(tally) == "found", tally
        assert tally.found is not None
        assert tally.found.case < campaign.cases == 11


@pytest.mark.long
def test_mutants_that_are_infected_and_change_nothing_are_not_found(campaign: Campaign) -> None:
    for tally in campaign.tallies[len(PLANTED) :]:
        assert status_of(tally) == "missed", tally
        assert tally.infected
        assert (tally.judged, tally.changed) == (tally.infected, 0)
        assert f"infected in {tally.infected}" in why_missed(tally)
    assert campaign.unclean == []


@pytest.mark.long
def test_the_report_has_each_mutant_and_the_share_of_each_family(campaign: Campaign) -> None:
    text = text_report(campaign, "five")
    assert "| all | 4 | 2 | 0 | 2 (50.0 % found) |" in text
    for mutant in HARMLESS:
        assert f"{mutant.module}:{mutant.definition} {mutant.name}" in text
    report = json.loads(json_report(campaign, "five"))
    assert [each["status"] for each in report["mutants"]] == ["found"] * 2 + ["missed"] * 2


@pytest.mark.long
def test_a_mutant_on_at_import_is_judged_in_a_process_of_its_own() -> None:
    chosen = mutant_of("irkit.topi.index", "split", "0  ->  -1")
    with Campaign([chosen], 5) as campaign:
        (tally,) = campaign.tallies
        assert tally.needs_import
        campaign.load()
        campaign.run_imported(1, 60.0, float("inf"))
    assert (tally.alone, campaign.cases) == (1, 0)


def test_proofs_count_as_found() -> None:
    tally = Tally(PLANTED[0], "expression")
    assert status_of(tally) == "missed"
    tally.proof = "tests/proof/test_folds.py::test_a_fold"
    assert status_of(tally) == "proved"
    tally.found = Found(0, 3, "mismatch")
    assert status_of(tally) == "found"


@pytest.mark.long
def test_a_wrong_range_is_refuted_by_a_proof_and_the_original_is_not() -> None:
    what = "a[1]  ->  a[0]"
    wrong = mutant_of(f"{PROVED_MODULES}transfer", "_max", what)
    assert refuting_test(wrong).startswith("tests/proof/")
