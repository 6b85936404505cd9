"""Malformed files are refused with a located error, or are what they claim to be."""

import itertools
import os
from collections import Counter
from collections.abc import Callable

import pytest

from benchmarks.fuzz.malformed_batches import (
    MALFORMED_KINDS,
    Batches,
    MalformedKind,
    check_malformed,
    malformed_case,
)
from irkit.fuzz.generators import onnx_seeds
from irkit.fuzz.generators.malformed.text_cases import MONSTERS
from irkit.fuzz.judge import InputVerdict, read_text, run_model
from irkit.fuzz.judge.files.compare_outputs import compare_outputs
from irkit.fuzz.picks import Picks
from tests.draws import few_or_all, sampled

LOOP = b"serial(0, 6)"


def dies_of_loops(data: bytes) -> InputVerdict:
    """End the process at some texts, as a crash would."""
    if LOOP in data:
        os._exit(3)
    return InputVerdict("refused", "ParseError")


COUNTS: dict[MalformedKind, int] = {
    "text": few_or_all(80, 250),
    "onnx": few_or_all(40, 120),
    "trace": few_or_all(80, 250),
}


@pytest.mark.parametrize("kind", sampled(MALFORMED_KINDS, every=2))
def test_a_malformed_file_is_refused_or_means_what_it_says(
    kind: MalformedKind,
) -> None:
    found = Counter[str]()
    for number in range(COUNTS[kind]):
        verdict = check_malformed(kind, malformed_case(kind, number))
        assert verdict.status != "wrong", (kind, number, verdict)
        found[verdict.status] += 1
    # A generator that makes nothing but rubbish, or nothing wrong, tests nothing.
    assert found["refused"] >= COUNTS[kind] // 4
    assert found["accepted"] + found["agrees"] >= COUNTS[kind] // 20


@pytest.mark.parametrize("kind", MALFORMED_KINDS)
def test_a_number_makes_the_same_file_again(kind: MalformedKind) -> None:
    files = [malformed_case(kind, number) for number in range(20)]
    assert files == [malformed_case(kind, number) for number in range(20)]
    assert len(set(files)) > 15


@pytest.mark.parametrize("make", sampled(MONSTERS, every=3))
def test_large_text_is_refused_in_time_or_read(make: Callable[[Picks], str]) -> None:
    def first(count: int) -> int:
        return 0

    assert read_text(make(Picks(first)).encode()).status in ("refused", "accepted")


@pytest.mark.long
@pytest.mark.parametrize(("kind", "count"), [("text", 20_000), ("onnx", 4_000), ("trace", 10_000)])
def test_thousands_of_malformed_files_do_no_harm(kind: MalformedKind, count: int) -> None:
    with Batches(kind) as sweep:
        for number, verdict in sweep.run(range(count)):
            assert verdict.status != "wrong", (kind, number, verdict)
        assert sweep.peak < 2 << 30


def test_a_file_that_kills_its_process_is_found_and_the_others_are_tried() -> None:
    loops = next(number for number in itertools.count(1) if LOOP in malformed_case("text", number))
    tried = range(loops - 1, loops + 2)
    with Batches("text", attempt=dies_of_loops) as sweep:
        verdicts = dict(sweep.run(tried))
    dead = {number for number, verdict in verdicts.items() if verdict.what == "crash"}
    assert dead == {number for number in tried if LOOP in malformed_case("text", number)}
    assert set(verdicts) == set(tried) > dead
    assert sweep.wrong == len(dead)


@pytest.mark.long
def test_a_wrong_number_of_any_model_is_noticed() -> None:
    compared = 0
    for data in onnx_seeds():
        ran = run_model(data)
        if not ran.outputs:
            continue
        compared += 1
        assert compare_outputs(data, ran.inputs, ran.outputs).status == "agrees"
        off = {name: array + array.dtype.type(1) for name, array in ran.outputs.items()}
        assert compare_outputs(data, ran.inputs, off).status == "wrong"
        narrow = {name: array[..., :0] for name, array in ran.outputs.items()}
        assert compare_outputs(data, ran.inputs, narrow).status == "wrong"
    assert compared >= 18
