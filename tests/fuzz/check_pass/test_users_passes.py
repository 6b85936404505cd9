"""`check_pass` on passes as users write them: right ones pass, and wrong ones are found."""

import sys
from pathlib import Path

import numpy as np
import pytest

from irkit.fuzz import Picks
from irkit.fuzz.check_pass.tally import CheckTally
from irkit.transform import AnyPass
from tests.draws import sampled
from tests.fuzz.check_pass import (
    bad_passes,
    campaign,
    published_bugs,
    right_passes,
    right_rules,
)

FEW_RIGHT = (
    (right_rules.factor_out, 0),
    (right_rules.reassociate, 0),
    (right_passes.interchange, 0),
)
FEW_BAD = ("division-first", "interchange-extents", "split-without-tail")
BUFFERS = """\
def f(A: f32[{n}], C: f32[{n}]):
    for i in serial(0, {n}):
        C[i] = A[i] * f32({by}.0)
"""
ANY_WRONG = """\
def f(A: f32[{n}], C: f32[1]):
    for i in serial(0, {n}):
        C[0] = A[i] * A[i] + C[0] / f32({by}.0)
"""


def tried(p: AnyPass, phase: int, folder: Path, **how: object) -> tuple[str, CheckTally]:
    """Return what a check of few programs says, empty if all is well, and its counts."""
    return campaign.tried(p, folder, **{"phase": phase, "examples": 30, **how})


@pytest.mark.parametrize(("p", "phase"), sampled(FEW_RIGHT, every=4), ids=str)
def test_a_right_pass_fires_often_enough(p: AnyPass, phase: int, tmp_path: Path) -> None:
    said, tally = tried(p, phase, tmp_path, seed=3, examples=8)
    assert said == ""
    assert tally.fired >= 4
    assert tally.drawn < 240


@pytest.mark.long
@pytest.mark.parametrize(("p", "phase"), right_passes.RIGHT, ids=str)
def test_right_passes_pass_by_ten_seeds(p: AnyPass, phase: int, tmp_path: Path) -> None:
    for seed in range(10):
        said, tally = tried(p, phase, tmp_path, seed=seed, seconds=20.0)
        assert said == "", f"seed {seed}"
        assert tally.fired >= 3, f"seed {seed}"


def found(p: AnyPass, phase: int, folder: Path, **how: object) -> str:
    for seed in range(3):
        said, _ = tried(p, phase, folder, **{"seed": seed, "examples": 100, **how})
        if said and "tested nothing" not in said:
            return said
    return ""


@pytest.mark.parametrize(
    ("p", "phase"),
    sampled([each for each in bad_passes.BAD if each[0].name in FEW_BAD], every=3),
    ids=str,
)
def test_a_wrong_pass_is_found(p: AnyPass, phase: int, tmp_path: Path) -> None:
    assert found(p, phase, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("p", "phase"), bad_passes.BAD, ids=str)
def test_wrong_passes_are_found_by_three_seeds(p: AnyPass, phase: int, tmp_path: Path) -> None:
    assert found(p, phase, tmp_path)


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    by_name = {p.name: p for p, _ in bad_passes.BAD}

    def text(picks: Picks) -> str:
        return ANY_WRONG.format(n=picks.between(2, 9), by=picks.below(2))

    def said_of(name: str) -> str:
        return found(by_name[name], 0, tmp_path, strategy=text)

    assert "makes iterations or threads race" in said_of("parallel-anything")
    before = sys.getrecursionlimit(), np.geterr()
    limit = "changes the state of its process: it changes Python's recursion limit from "
    assert limit in said_of("raise-limit")
    assert "it changes NumPy's error state" in said_of("ignore-errors")
    assert (sys.getrecursionlimit(), np.geterr()) == before
    said = said_of("trusts-constant")
    assert "raises an exception: AttributeError: " in said
    assert "(bad_passes.py:" in said.partition("\n")[0]
    assert "raises an exception: ZeroDivisionError: " in said_of("divides-by-constant")


@pytest.mark.long
def test_numbers_that_depend_on_the_hash_seed_are_named(tmp_path: Path) -> None:
    how = {"seed": 1, "examples": 6, "hash_seeds": (1,), "fires": 1}
    said, _ = tried(bad_passes.by_hash, 0, tmp_path, **how)
    assert "is not deterministic: another result with hash seed 1" in said
    said, _ = tried(bad_passes.by_hash.using(wrong=1), 0, tmp_path, **how)
    assert "changes what the program computes: " in said
    assert "Its result depends on the hash seed" in said


def test_a_function_of_picks_draws_programs(tmp_path: Path) -> None:
    def text(picks: Picks) -> str:
        return BUFFERS.format(n=picks.between(1, 9), by=picks.pick((3, 2)))

    said, tally = tried(right_rules.double_by_adding, 0, tmp_path, strategy=text, examples=10)
    assert said == ""
    assert tally.fired >= 5
    assert tally.cases == 10


def test_when_time_is_over_one_program_that_was_changed_is_enough(tmp_path: Path) -> None:
    def text(picks: Picks) -> str:
        return BUFFERS.format(n=3, by=2)

    how = {"strategy": text, "examples": 100_000, "seconds": 0.3}
    said, tally = tried(right_rules.double_by_adding, 0, tmp_path, **how)
    assert said == ""
    assert 1 <= tally.fired < 100_000
    (note,) = tally.notes
    assert note.startswith("stopped after ")
    assert f"changed {tally.fired} of {tally.drawn} programs" in note
    said, _ = tried(right_rules.use_shifts, 0, tmp_path, **how)
    assert "this tested nothing: 'use-shifts' changed 0 of " in said
    assert "stopped after" in said


@pytest.mark.parametrize(
    ("p", "phase"), sampled(published_bugs.WRONG, every=9, first=2), ids=lambda each: str(each)
)
def test_a_published_kind_of_miscompile_is_found(p: AnyPass, phase: int, tmp_path: Path) -> None:
    assert found(p, phase, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("p", "phase"), published_bugs.WRONG, ids=str)
def test_published_kinds_of_miscompiles_are_found_by_nine_seeds_of_ten(
    p: AnyPass, phase: int, tmp_path: Path
) -> None:
    said = [tried(p, phase, tmp_path / str(seed), seed=seed, examples=100)[0] for seed in range(10)]
    assert sum(bool(each) and "tested nothing" not in each for each in said) >= 9


@pytest.mark.long
@pytest.mark.parametrize(("p", "phase"), published_bugs.RIGHT, ids=str)
def test_their_right_twins_pass(p: AnyPass, phase: int, tmp_path: Path) -> None:
    for seed in range(10):
        said, _ = tried(p, phase, tmp_path, seed=seed, examples=100, fires=0)
        assert said == "", f"seed {seed}"
