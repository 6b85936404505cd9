"""Samples that once failed, kept as text, are right."""

from pathlib import Path

import pytest

from irkit.fuzz import read_sample
from irkit.fuzz.judge import INVARIANTS
from irkit.fuzz.shrink.forked_judge import judge_in_fork
from tests.draws import sampled

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.toml"))


@pytest.mark.parametrize("path", sampled(CORPUS, every=3), ids=lambda path: path.stem)
def test_a_sample_of_the_corpus_is_right(path: Path) -> None:
    outcome = judge_in_fork(read_sample(path), thorough=True, invariants=tuple(INVARIANTS))
    assert outcome.ok, outcome.message


def test_there_is_a_corpus() -> None:
    assert len(CORPUS) >= 5
