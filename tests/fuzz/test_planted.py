"""The checks find bugs planted into the passes, and name the pass."""

import os
from collections.abc import Iterator

import msgspec
import pytest

from irkit.core import IRKitError
from irkit.fuzz import KERNELS
from irkit.fuzz.bugs import CATALOGUE, CONDUCT, HUNTED_ONLY
from irkit.fuzz.cases import fixed_cases, steps_of
from irkit.fuzz.mutants import MODULES, mutants, sites
from irkit.fuzz.nursery import Nursery, Order, source_of
from irkit.fuzz.planted import order_of, try_planted
from irkit.fuzz.score import mutant_score, mutant_verdicts, planted_results, planted_score
from irkit.fuzz.trial import prints_of, try_cases
from irkit.transform.run import apply_here

# One of each family, and each way in which a bug is found.
FEW = (
    "a lost predicate",
    "swapped strides",
    "a variable bound twice",
    "a lost tail",
    "a barrier left out",
    "one place for what every thread keeps",
    "a sum of ranges without its upper end",
    "a split without its guard",
    "batch norm folded without its mean",
    "memory reused while it is still live",
    "a lie about having changed something",
    "an exception",
    "a parameter dropped",
    "a crash in native code",
)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Prepare one nursery for all: it takes longer than trying a bug."""
    with Nursery(0, 0) as made:
        yield made


def test_every_anchor_of_the_catalogue_is_in_the_source_once() -> None:
    for bug in (*CATALOGUE, *HUNTED_ONLY):
        assert order_of(bug).source != source_of(bug.module)


def test_the_catalogue_has_no_two_bugs_of_one_name_and_only_known_programs() -> None:
    names = [bug.name for bug in (*CATALOGUE, *HUNTED_ONLY)]
    assert len(set(names)) == len(names)
    assert len(CATALOGUE) >= 40
    assert len(HUNTED_ONLY) >= 90
    assert not any(bug.case for bug in HUNTED_ONLY)
    assert {bug.case for bug in CATALOGUE} <= {case.name for case in fixed_cases()}


def test_a_stale_anchor_is_an_error_that_names_the_bug() -> None:
    bug = CATALOGUE[0]
    stale = msgspec.structs.replace(bug, anchor="no such text")
    with pytest.raises(IRKitError, match=f"planted bug '{stale.name}': its anchor occurs 0"):
        order_of(stale)
    for name in ("no_such_definition", "inject_double_buffers"):
        moved = msgspec.structs.replace(stale, target=f"{stale.module}:{name}", anchor=bug.anchor)
        with pytest.raises(IRKitError, match=f"its anchor is not in {moved.target}"):
            order_of(moved)


def test_the_passes_as_they_are_have_no_fault() -> None:
    cases = [case for case in fixed_cases() if case.name not in KERNELS]
    found = try_cases(cases, {}, judge=False)
    assert not found.found, found.message
    assert len(found.differs) == len(cases)


def test_a_lowering_that_is_as_before_needs_no_check() -> None:
    cases = fixed_cases()[:3]
    assert try_cases(cases, prints_of(cases)).differs == ()


def test_every_loop_pass_changes_one_of_the_fixed_programs() -> None:
    fired = {
        step.name for case in fixed_cases() for step in steps_of(case, apply_here) if step.changed
    }
    named = {name for bug in CATALOGUE for name in bug.guilty if bug.guilty[1:] == ()}
    assert named <= fired


def test_planted_bugs_of_every_kind_are_found_and_the_right_pass_is_named(nursery: Nursery) -> None:
    bugs = [bug for bug in CATALOGUE if bug.name in FEW]
    results = list(try_planted(nursery, bugs))
    wrong = [f"{r.bug.name}: {r.finding}" for r in results if not r.right]
    assert len(results) == len(FEW)
    assert wrong == []
    ways = {result.finding.by for result in results}
    assert ways >= {"verifier", "verdict", "interpreter", "exception", "crash", "changed"}
    assert planted_score(results) == "planted: 14 of 14 found, 14 with the right pass named"


# The whole catalogue takes half a minute: `make test-long`.
BISECTED = [bug for bug in CATALOGUE if ".loop." in bug.module and bug not in CONDUCT][::4]


def test_a_planted_bug_is_bisected_to_a_rewrite_in_its_pass(nursery: Nursery) -> None:
    results = list(try_planted(nursery, BISECTED, bisected=True))
    assert len(results) >= 20
    assert len({name for bug in BISECTED for name in bug.guilty}) >= 12
    divided = 0
    for result in results:
        found = result.finding.bisected
        assert result.right, result
        assert found is not None, result
        assert found.named == result.finding.named, result
        assert found.seconds < 2, result
        assert bool(found.numbers) != bool(found.note) or "atomic" in found.note, result
        assert all(0 <= number < found.of for number in found.numbers), result
        divided += bool(found.numbers)
    # The others break what their pass does besides its rewrites, or raise before they report any.
    assert divided >= len(results) // 2


def test_a_changed_module_leaves_this_process_and_the_files_alone(nursery: Nursery) -> None:
    bug = CATALOGUE[0]
    before = source_of(bug.module)
    assert nursery.try_out(order_of(bug)).found
    # The next child starts from the passes as they are.
    assert not nursery.try_out(Order(bug.module, before)).found
    assert source_of(bug.module) == before
    assert not try_cases(
        [case for case in fixed_cases() if case.name == bug.case], {}, judge=False
    ).found


def test_mutants_are_the_same_for_the_same_seed_and_differ_from_the_source() -> None:
    first, again = list(mutants(3, 20)), list(mutants(3, 20))
    assert first == again
    assert list(mutants(4, 20)) != first
    for mutant in first:
        compile(mutant.source, mutant.module, "exec")
        assert "  ->  " in mutant.what


def test_every_module_has_something_to_change() -> None:
    assert [module for module in MODULES if not sites(module)] == []


# What the catalogue's programs found in the passes as they were.
MENDED = ("LANE_VIEWS", "VIEWED_INDEX", "CONV_PADDED", "FUSE")


@pytest.mark.parametrize("name", MENDED)
def test_a_mended_fault_stays_mended(name: str) -> None:
    case = next(case for case in fixed_cases() if case.name == name)
    found = try_cases([case], {}, judge=False)
    assert not found.found, found.message


@pytest.mark.long
def test_the_whole_catalogue_is_found_with_the_right_pass() -> None:
    results = list(planted_results(CATALOGUE, jobs=2, bisected=True))
    print(planted_score(results))  # noqa: T201 -- the figure is wanted
    assert [f"{r.bug.name}: {r.finding}" for r in results if not r.right] == []
    bisected = [(r, r.finding.bisected) for r in results if r.finding.bisected is not None]
    # A bisection runs no plan of memory and no graph with its kernels; a copy is no fault to it.
    blind = {"plan-memory", "lower-to-loops"}
    lost = [
        f"{result.bug.name}: {found}"
        for result, found in bisected
        if found.named != result.finding.named
        and result.finding.named not in blind
        and result.finding.by != "changed"
    ]
    assert lost == []


@pytest.mark.long
def test_mutants_that_change_meaning_are_found() -> None:
    chosen = list(mutants(int(os.environ.get("IRKIT_SEED", "0")), 150))
    verdicts = list(mutant_verdicts(chosen, jobs=2))
    print(mutant_score(verdicts))  # noqa: T201 -- the figure is wanted
    found = sum(verdict.status == "found" for verdict in verdicts)
    missed = [f"{v.mutant}: {v.finding}" for v in verdicts if v.status == "missed"]
    assert found >= 0.95 * (found + len(missed)), missed
    assert found >= 40
