"""``irkit mutate``: the score of one seeded bug."""

import pytest
from click.testing import CliRunner

from irkit.cli.mutate import mutate


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
