"""Seeded bugs: each still fits its source, is found, and is blamed on the right pass."""

import re
from collections.abc import Iterator

import msgspec
import pytest

from irkit.core import IRKitError
from tests.draws import few_or_all
from tests.mutation.changes.catalogue import CATALOGUE, FUZZED_ONLY, MISBEHAVIOUR
from tests.mutation.changes.mutant import as_it_is
from tests.mutation.changes.seeded_bug import SeededBug, read_bugs
from tests.mutation.changes.source import source_of
from tests.mutation.runs.check_runs import (
    order_for,
    seeded_bug_results,
    seeded_bug_score,
    try_seeded_bugs,
)
from tests.mutation.trials.check_programs import try_programs
from tests.mutation.trials.fork_server import ForkServer, TrialOrder
from tests.mutation.trials.programs import fixed_programs

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
def server() -> Iterator[ForkServer]:
    """Start one server for all: that takes longer than trying a bug."""
    with ForkServer(0, 0) as made:
        yield made


def test_every_pattern_of_the_catalogue_is_in_one_place_of_its_definition() -> None:
    for bug in (*CATALOGUE, *FUZZED_ONLY):
        assert order_for(bug).source != as_it_is(bug.module), bug.name


def test_the_catalogue_has_no_two_bugs_of_one_name_and_only_known_programs() -> None:
    names = [bug.name for bug in (*CATALOGUE, *FUZZED_ONLY)]
    assert len(set(names)) == len(names)
    assert len(CATALOGUE) >= 40
    assert len(FUZZED_ONLY) >= 90
    assert not any(bug.case for bug in FUZZED_ONLY)
    assert {bug.case for bug in CATALOGUE} <= {case.name for case in fixed_programs()}


def stale(**changed: str) -> str:
    """Return the error of a bug that no longer fits, with its hint."""
    with pytest.raises(IRKitError) as raised:
        order_for(msgspec.structs.replace(CATALOGUE[0], **changed))
    return f"{raised.value.message} {raised.value.hint}"


def test_a_bug_that_no_longer_fits_is_an_error_that_names_it_and_what_is_there() -> None:
    bug = CATALOGUE[0]
    named = f"seeded bug '{bug.name}': "
    where = f"{bug.module}:{bug.definition}"
    said = stale(before="const(3, $at.dtype)")
    assert f"{named}'const(3, $at.dtype)' is in 0 places of {where}, expected 1" in said
    assert "Most like it: " in said
    assert "const(2, at.dtype)" in said
    assert re.search(
        r"is in \d+ places of .*, expected 1 In lines \d+, \d+", stale(before="$x", after="$x")
    )
    assert f"{named}'$x +' is no Python" in stale(before="$x +")
    said = stale(definition="inject_double_buffers")
    assert f"{named}{bug.before!r} is in 0 places of {bug.module}:inject_double_buffers" in said


def test_a_bug_in_a_definition_that_has_moved_is_told_where_it_is_now() -> None:
    bug = CATALOGUE[0]
    said = stale(module="irkit.passes.loop.loops.unroll_loops")
    assert f"unroll_loops does not define {bug.definition} It is defined in {bug.module}." in said
    said = stale(module="irkit.gone.elsewhere")
    assert f"no module irkit.gone.elsewhere It is defined in {bug.module}." in said
    said = stale(module="irkit.gone.unroll_loops", definition="_not_there")
    assert "There is irkit.passes.loop.loops.unroll_loops." in said


def test_bugs_are_read_from_text() -> None:
    text = (
        "What they are.\n\nmodule a.b\nguilty one, two\n\nfirst | f | CASE\n- x\n+ y\n\n"
        "module a.c\n\nsecond | C.g\n- if x:\n-     y\n\nguilty three\n\nthird | h\n- x\n+ y\n+ z\n"
    )
    assert list(read_bugs(text)) == [
        SeededBug("first", "a.b", "f", "x", "y", ("one", "two"), "CASE"),
        SeededBug("second", "a.c", "C.g", "if x:\n    y", "", ("one", "two")),
        SeededBug("third", "a.c", "h", "x", "y\nz", ("three",)),
    ]


@pytest.mark.long
def test_seeded_bugs_of_every_kind_are_found_and_the_right_pass_is_named(
    server: ForkServer,
) -> None:
    bugs = [bug for bug in CATALOGUE if bug.name in FEW]
    results = list(try_seeded_bugs(server, bugs))
    wrong = [f"{r.bug.name}: {r.finding}" for r in results if not r.right]
    assert len(results) == len(FEW)
    assert wrong == []
    ways = {result.finding.by for result in results}
    assert ways >= {"verifier", "verdict", "interpreter", "exception", "crash", "changed"}
    assert seeded_bug_score(results) == "seeded: 14 of 14 found, 14 with the right pass named"


# The whole catalogue takes half a minute: `make test-long`.
_ON_LOOPS = ("irkit.passes.loop.", "irkit.ir.analysis.")
BISECTED = [
    bug for bug in CATALOGUE if bug.module.startswith(_ON_LOOPS) and bug not in MISBEHAVIOUR
][:: few_or_all(12, 4)]


def test_a_seeded_bug_is_bisected_to_a_rewrite_in_its_pass(server: ForkServer) -> None:
    results = list(try_seeded_bugs(server, BISECTED, bisected=True))
    assert len(results) >= few_or_all(7, 20)
    assert len({name for bug in BISECTED for name in bug.guilty}) >= few_or_all(5, 12)
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
    # The others break something besides the rewrites of their pass, or raise before they report
    # any.
    assert divided >= len(results) // 2


@pytest.mark.long
def test_a_changed_module_leaves_this_process_and_the_files_alone(server: ForkServer) -> None:
    bug = CATALOGUE[0]
    before = source_of(bug.module)
    assert server.try_out(order_for(bug)).found
    # The next child starts from the passes as they are.
    assert not server.try_out(TrialOrder(bug.module, before)).found
    assert source_of(bug.module) == before
    assert not try_programs(
        [case for case in fixed_programs() if case.name == bug.case], {}, judge=False
    ).found


@pytest.mark.long
def test_the_whole_catalogue_is_found_with_the_right_pass() -> None:
    results = list(seeded_bug_results(CATALOGUE, jobs=2, bisected=True))
    print(seeded_bug_score(results))  # noqa: T201 -- the figure is wanted
    assert [f"{r.bug.name}: {r.finding}" for r in results if not r.right] == []
    bisected = [(r, r.finding.bisected) for r in results if r.finding.bisected is not None]
    # A bisection runs no memory plan and no graph with its kernels; to it, a copy is no fault.
    blind = {"plan-memory", "lower-to-loops"}
    lost = [
        f"{result.bug.name}: {found}"
        for result, found in bisected
        if found.named != result.finding.named
        and result.finding.named not in blind
        and result.finding.by != "changed"
    ]
    assert lost == []
