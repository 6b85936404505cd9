"""Hostile files are refused with an error that says where, or are what they claim to be."""

from collections import Counter
from collections.abc import Callable

import pytest

from irkit.fuzz.hostile import (
    HOSTILE_KINDS,
    MONSTERS,
    HostileKind,
    hostile_case,
    try_hostile,
    try_text,
)
from irkit.fuzz.picks import Picks

COUNTS: dict[HostileKind, int] = {"text": 250, "onnx": 120, "trace": 250}


@pytest.mark.parametrize("kind", HOSTILE_KINDS)
def test_a_hostile_file_is_refused_in_words_or_means_what_it_says(kind: HostileKind) -> None:
    found = Counter[str]()
    for number in range(COUNTS[kind]):
        verdict = try_hostile(kind, hostile_case(kind, number))
        assert verdict.status != "wrong", (kind, number, verdict)
        found[verdict.status] += 1
    # A generator that makes nothing but rubbish, or nothing that is wrong, tests nothing.
    assert found["refused"] >= COUNTS[kind] // 4
    assert found["accepted"] + found["agrees"] >= COUNTS[kind] // 20


@pytest.mark.parametrize("kind", HOSTILE_KINDS)
def test_a_number_makes_the_same_file_again(kind: HostileKind) -> None:
    files = [hostile_case(kind, number) for number in range(20)]
    assert files == [hostile_case(kind, number) for number in range(20)]
    assert len(set(files)) > 15


@pytest.mark.parametrize("make", MONSTERS)
def test_large_text_is_refused_in_time_or_read(make: Callable[[Picks], str]) -> None:
    def first(count: int) -> int:
        return 0

    assert try_text(make(Picks(first)).encode()).status in ("refused", "accepted")
