"""Files that are damaged: refused in words, or what they say; anything else is a finding."""

import os
import time
from collections import Counter

import pytest

from irkit.fuzz.campaign.draws import draw_of
from irkit.fuzz.forking import forked
from irkit.fuzz.generators import Sample
from irkit.fuzz.hostile import Ran, Verdict, cases, onnx_seeds, referee
from irkit.fuzz.judging import files, judge
from irkit.fuzz.shrinking import make_small, parse_sample, sample_text
from irkit.phases import GRAPH

TEXT = "def f(A: f32[4]):\n    for i in serial(0, 4):\n        A[i] = f32(1.0)\n"


def damaged(ir: str | bytes) -> Sample:
    return Sample("text" if isinstance(ir, str) else "onnx", ir, GRAPH, damaged=True)


def test_campaigns_draw_files_that_are_refused_and_files_that_are_right() -> None:
    fates = Counter[tuple[str, str]]()
    for number in range(240):
        draw = draw_of(2, number, ("onnx", "text"), ())
        sample = draw.sample()
        if not sample.damaged:
            continue
        found = judge(sample)
        assert found.ok, (draw, found)
        fates[draw.kind, found.fate] += 1
    assert fates["text", "refused"] > 30
    assert fates["text", "read back"] > 3
    assert fates["onnx", "refused"] > 5
    assert fates["onnx", "agrees with onnx.reference"] > 0


@pytest.mark.parametrize("ir", ["def f(:\n", TEXT, onnx_seeds()[0][:40], onnx_seeds()[0]])
def test_a_damaged_sample_is_text_that_runs_again(ir: str | bytes) -> None:
    sample = damaged(ir)
    again = parse_sample(sample_text(sample, {"why": "it is damaged"}))
    assert (again.ir, again.damaged) == (ir, True)
    assert judge(again).fate == judge(sample).fate != ""
    without_native = judge(again, native=False)
    assert without_native.ok


def reader_that(fails: str) -> object:
    def read(data: bytes) -> Verdict:
        text = data.decode()
        if "serial" in text:
            return Verdict("wrong", fails, f"in {len(text)} characters")
        return Verdict("refused", "ParseError", "1:1: no")

    return read


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("RecursionError", "failed"),
        ("slow error", "broken"),
        ("error without a place", "broken"),
        ("what was printed reads as something else", "broken"),
        ("differs from onnx.reference", "mismatch"),
    ],
)
def test_what_is_wrong_is_a_finding(
    what: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "try_text", reader_that(what))
    found = judge(damaged(TEXT))
    assert (found.status, found.tier, found.fate) == (status, "damaged file", "")
    assert what in found.message


def test_a_damaged_text_is_made_as_short_as_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "try_text", reader_that("RecursionError"))
    sample = damaged(TEXT * 40)
    small = make_small(sample, judge(sample), judge)
    assert small.sample.ir == "serial"
    assert (small.steps, small.passes) == (0, 0)


def test_a_wrong_number_of_a_damaged_model_is_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    real = files.judged_model
    assert real(onnx_seeds()[0]).status == "agrees"

    def off(data: bytes) -> Ran:
        ran = try_model(data)
        return Ran(ran.verdict, ran.inputs, {name: a + 1 for name, a in ran.outputs.items()})

    try_model = cases.try_model
    monkeypatch.setattr(cases, "try_model", off)
    found = judge(damaged(onnx_seeds()[0]))
    assert (found.status, found.tier) == ("mismatch", "damaged file")


def test_a_reference_that_crashes_says_nothing_of_irkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "compare", lambda *ignored: os._exit(3))
    assert judge(damaged(onnx_seeds()[0])).fate == "not compared"


def test_a_fork_gives_what_it_made_or_how_it_ended() -> None:
    assert forked(lambda: b"x" * 300_000, 30) == (b"x" * 300_000, "")
    assert forked(os.abort, 30) == (b"", "crash")
    assert forked(lambda: time.sleep(60) or b"", 0.2) == (b"", "timeout")
