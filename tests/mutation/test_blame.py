"""Blame: who can be named for a change follows from who uses the line."""

import pytest

from irkit.passes import BUILTIN
from tests.mutation.changes.catalogue import CATALOGUE, FUZZED_ONLY
from tests.mutation.changes.seeded_bug import SeededBug
from tests.mutation.runs.blame import blamed_at
from tests.mutation.runs.fuzz_runs import FuzzedChange
from tests.mutation.trials.messages import FuzzResult

TIERS = {"draw", "interpreter", "lower", "lowered", "O0", "O3", "invariants"}


def users_of(bug: SeededBug) -> frozenset[str]:
    return blamed_at(bug.module, bug.line)


def bug(name: str) -> SeededBug:
    return next(each for each in (*CATALOGUE, *FUZZED_ONLY) if each.name == name)


def is_right(name: str, named: str, tier: str = "lowered") -> bool:
    return FuzzedChange(bug(name), FuzzResult("mismatch", named=named, tier=tier)).right


@pytest.mark.long
def test_every_seeded_bug_is_used_by_a_pass_that_the_catalogue_accepts() -> None:
    for each in (*CATALOGUE, *FUZZED_ONLY):
        if set(each.guilty) <= TIERS:
            continue  # A tier can run any part of irkit.
        known = {name.removeprefix("sch.").replace("_", "-") for name in users_of(each)}
        assert known & set(each.guilty), each.name


def test_a_line_of_a_pass_itself_is_used_by_that_pass_alone() -> None:
    for p in BUILTIN:
        function = p.function
        line = function.__code__.co_firstlineno
        assert blamed_at(function.__module__, line) == {p.name}


@pytest.mark.parametrize(
    ("name", "named", "wrong"),
    [
        ("a lost last copy", {"unroll-loops"}, {"simplify", "vectorize-loops", "sch.split", ""}),
        (
            "a part that is not copied back",
            {"sch.stage_mem", "sch.write_at", "sch.cache_inplace"},
            {"sch.split", "sch.compute_at", "sch.cache_write", "unroll-loops"},
        ),
        (
            "an initialisation after the reduction",
            {"sch.decompose_reduction", "lower-to-loops"},
            {"sch.rfactor", "simplify", "lower-init-blocks"},
        ),
        (
            "a rest that may be negative",
            {"simplify", "sch.split", "lower-to-loops"},
            {"unroll-loops", "lower-blocks", "flatten-buffers", "eliminate-dead-nodes"},
        ),
        ("a slot smaller than its tensor", {"plan-memory"}, {"fuse-ops", "lower-to-loops"}),
        ("lanes apart taken for neighbours", set[str](), {"simplify", "vectorize-loops"}),
    ],
)
def test_only_users_of_the_line_may_be_blamed(name: str, named: set[str], wrong: set[str]) -> None:
    assert all(is_right(name, each) for each in named)
    assert not any(is_right(name, each) for each in wrong)


def test_if_no_pass_is_named_the_tier_must_use_the_changed_line() -> None:
    assert is_right("lanes apart taken for neighbours", "", "O3")
    assert not is_right("lanes apart taken for neighbours", "", "interpreter")
    assert is_right("bounds that are exchanged", "", "interpreter")
    assert not is_right("bounds that are exchanged", "", "O0")
    found = FuzzedChange(bug("a lost last copy"), FuzzResult(named="unroll-loops"))
    assert not found.right, "nothing was found"
