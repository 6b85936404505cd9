"""The corpus: cases that reach something new are kept, and lead to others."""

import random

import pytest

from irkit.fuzz.guidance import corpus as module
from irkit.fuzz.guidance.choice_changes import changed_choices
from irkit.fuzz.guidance.corpus import CoverageCorpus

CHOICES = ((1, 4), (0, 2), (7, 9), (3, 4))


def test_a_case_is_kept_only_for_a_branch_that_none_before_it_took() -> None:
    corpus = CoverageCorpus()
    assert corpus.learn("programs", 0, CHOICES, (), {"a", "b"})
    assert not corpus.learn("programs", 1, CHOICES, (), {"b"})
    assert corpus.learn("schedules", 2, CHOICES, (), {"b", "c"})
    assert len(corpus) == 2
    assert corpus.branches == {"a", "b", "c"}


def test_cases_are_made_of_those_of_their_kind() -> None:
    corpus, rng = CoverageCorpus(), random.Random(0)
    corpus.learn("programs", 0, CHOICES, (5,), {"a"})
    assert corpus.derived("graphs", 1, rng) is None
    made = [corpus.derived("programs", number, rng) for number in range(1, 60)]
    cases = [each for each in made if each is not None]
    assert {each.kind for each in cases} == {"programs"}
    assert any(each.choices == (1, 0, 7, 3) and len(each.changes) > 1 for each in cases)
    assert len({each.choices for each in cases}) > 10


def test_what_leads_to_something_new_is_tried_more_often() -> None:
    corpus, rng = CoverageCorpus(), random.Random(0)
    corpus.learn("programs", 0, CHOICES, (), {"a"})
    (case,) = corpus.cases["programs"]
    corpus.derived("programs", 1, rng)
    corpus.learn("programs", 1, (), (), {"a"})
    before = case.weight
    corpus.derived("programs", 2, rng)
    corpus.learn("programs", 2, CHOICES, (), {"b"})
    assert case.weight > before


def test_what_brings_new_branches_gets_more_of_the_cases() -> None:
    shares: list[float] = []
    for made_finds in (False, True):
        corpus, rng = CoverageCorpus(), random.Random(0)
        corpus.learn("programs", 0, CHOICES, (), {"a"})
        for number in range(1, 200):
            made = number % 2 and corpus.derived("programs", number, rng) is not None
            corpus.learn("programs", number, (), (), {str(number)} if made == made_finds else ())
        shares.append(corpus.share)
    assert shares == [0.1, 0.9]


def test_a_corpus_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CASES", 5)
    corpus, rng = CoverageCorpus(), random.Random(0)
    for number in range(20):
        corpus.derived("programs", number, rng)
        corpus.learn("programs", number, ((number, 20),), (), {str(number)})
    assert len(corpus) == 5
    assert len(corpus.branches) == 20


def test_changed_choices_are_in_range_and_differ() -> None:
    rng = random.Random(1)
    made = [changed_choices(CHOICES, CHOICES, rng) for _ in range(200)]
    assert sum(each != (1, 0, 7, 3) for each in made) > 150
    assert all(choice < 9 for each in made for choice in each)
    assert changed_choices((), (), rng) == ()
