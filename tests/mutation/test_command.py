"""The commands: the score of one seeded bug, samples of mutants, mistakes."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.mutation.__main__ import mutate
from tests.mutation.changes.mutant import mutants
from tests.mutation.changes.sample import save_sample
from tests.mutation.fuzz import fuzz_mutants


@pytest.mark.long
def test_it_reports_what_found_a_bug_and_which_pass_was_named() -> None:
    result = CliRunner().invoke(mutate, ["--only", "a lost predicate"])
    assert result.exit_code == 0
    assert "lower-blocks" in result.output
    assert "seeded: 1 of 1 found, 1 with the right pass named" in result.output


def test_without_seeded_bugs_the_catalogue_is_not_run() -> None:
    result = CliRunner().invoke(mutate, ["--no-seeded"])
    assert result.exit_code == 0
    assert "seeded:" not in result.output


@pytest.mark.parametrize(
    "words", [["--only", "no such bug"], ["--jobs", "0"], ["--mutants", "1", "--sample", __file__]]
)
def test_a_mistake_is_an_error_and_nothing_is_seeded(words: list[str]) -> None:
    result = CliRunner().invoke(mutate, words)
    assert result.exit_code == 2
    assert "Error" in result.output


@pytest.mark.long
def test_a_sample_is_tried_and_saved_and_what_is_gone_is_counted(tmp_path: Path) -> None:
    given, saved = tmp_path / "given", tmp_path / "saved"
    chosen = list(mutants(3, 1))
    save_sample(given, chosen)
    kept = given.read_bytes()
    given.write_bytes(kept + b'{"module":"irkit.gone","definition":"f","what":"1  ->  2"}\n')
    words = ["--no-seeded", "--sample", str(given), "--save-sample", str(saved)]
    result = CliRunner().invoke(mutate, words)
    assert "sample: 1 of 2 are here, 1 gone" in result.output
    assert "gone: irkit.gone:f: 1  ->  2" in result.output
    assert "mutants: " in result.output
    assert saved.read_bytes() == kept


@pytest.mark.parametrize("words", [["--cases", "0"], ["--kind", "no such kind"], ["--time", "x"]])
def test_a_mistake_is_an_error_and_nothing_is_fuzzed(words: list[str]) -> None:
    result = CliRunner().invoke(fuzz_mutants, words)
    assert result.exit_code == 2
    assert "Error" in result.output


def test_fuzzing_without_time_for_one_change_is_an_error() -> None:
    result = CliRunner().invoke(fuzz_mutants, ["--time", "0.000001"])
    assert result.exit_code == 2
    assert "nothing was tested" in result.output
