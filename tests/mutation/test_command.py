"""The commands: the score of one seeded bug, samples of mutants, mistakes."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.mutation.__main__ import mutate
from tests.mutation.changes.mutant import mutants
from tests.mutation.changes.sample import find_mutant, read_sample
from tests.mutation.fuzz import fuzz_mutants


def test_it_reports_what_found_a_bug_and_which_pass_was_named() -> None:
    result = CliRunner().invoke(mutate, ["--only", "a lost predicate"])
    assert result.exit_code == 0
    assert "lower-blocks" in result.output
    assert "seeded: 1 of 1 found, 1 with the right pass named" in result.output


def test_without_seeded_bugs_the_catalogue_is_not_run() -> None:
    result = CliRunner().invoke(mutate, ["--no-seeded"])
    assert result.exit_code == 0
    assert "seeded:" not in result.output


@pytest.mark.parametrize("words", [["--only", "no such bug"], ["--jobs", "0"]])
def test_a_mistake_is_an_error_and_nothing_is_seeded(words: list[str]) -> None:
    result = CliRunner().invoke(mutate, words)
    assert result.exit_code == 2
    assert "Error" in result.output


def test_a_sample_is_saved_tried_again_and_what_is_gone_is_counted(tmp_path: Path) -> None:
    words = ["--no-seeded", "--mutants", "2", "--seed", "3"]
    saved, cut = tmp_path / "sample", tmp_path / "cut"
    result = CliRunner().invoke(mutate, [*words, "--save-sample", str(saved)])
    assert "mutants: " in result.output
    names = read_sample(saved)
    assert [find_mutant(name) for name in names] == list(mutants(3, 2))
    lost = '{"module":"irkit.gone","definition":"f","what":"1  ->  2"}\n'
    cut.write_text(saved.read_text().splitlines()[0] + "\n" + lost)
    again = CliRunner().invoke(mutate, ["--no-seeded", "--sample", str(cut)])
    assert "sample: 1 of 2 are here, 1 gone" in again.output
    assert "gone: irkit.gone:f: 1  ->  2" in again.output
    assert "mutants: " in again.output


@pytest.mark.parametrize("words", [["--cases", "0"], ["--kind", "no such kind"], ["--time", "x"]])
def test_a_mistake_is_an_error_and_nothing_is_fuzzed(words: list[str]) -> None:
    result = CliRunner().invoke(fuzz_mutants, words)
    assert result.exit_code == 2
    assert "Error" in result.output


def test_fuzzing_without_time_for_one_change_is_an_error() -> None:
    result = CliRunner().invoke(fuzz_mutants, ["--time", "0.000001"])
    assert result.exit_code == 2
    assert "nothing was tested" in result.output
