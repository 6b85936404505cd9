"""Damaged files are refused with a message, or mean what they say; anything else is a finding."""

from collections import Counter

import pytest

from irkit.fuzz.campaign.draw import draw_of
from irkit.fuzz.generators import onnx_seeds
from irkit.fuzz.generators.sample_file import parse_sample, sample_text
from irkit.fuzz.judge import InputVerdict, judge
from irkit.fuzz.judge.files import compare_outputs, judge_file
from irkit.fuzz.judge.files.run_model import ModelRun
from irkit.fuzz.shrink.make_small import make_small
from tests.draws import few_or_all
from tests.fuzz.damaged_samples import damaged

TEXT = "def f(A: f32[4]):\n    for i in serial(0, 4):\n        A[i] = f32(1.0)\n"


@pytest.mark.long
def test_campaigns_draw_refused_files_and_right_files() -> None:
    fates = Counter[tuple[str, str]]()
    for number in range(few_or_all(160, 240)):
        draw = draw_of(2, number, ("onnx", "text"), ())
        sample = draw.sample()
        if not sample.damaged:
            continue
        found = judge(sample)
        assert found.ok, (draw, found)
        fates[draw.kind, found.fate] += 1
    assert fates["text", "refused"] > 30
    assert fates["text", "read back"] > 3
    assert fates["onnx", "refused"] > 2
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
    def read(data: bytes) -> InputVerdict:
        text = data.decode()
        if "serial" in text:
            return InputVerdict("wrong", fails, f"in {len(text)} characters")
        return InputVerdict("refused", "ParseError", "1:1: no")

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
def test_a_wrong_verdict_is_a_finding(
    what: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_file, "read_text", reader_that(what))
    found = judge(damaged(TEXT))
    assert (found.status, found.tier, found.fate) == (status, "damaged file", "")
    assert what in found.message


def test_a_damaged_text_shrinks_to_the_wrong_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_file, "read_text", reader_that("RecursionError"))
    sample = damaged(TEXT * 40)
    small = make_small(sample, judge(sample), judge)
    assert small.sample.ir == "serial"
    assert (small.size.steps, small.size.passes) == (0, 0)


def test_a_wrong_number_of_a_damaged_model_is_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    real = judge_file.check_model
    assert real(onnx_seeds()[0]).status == "agrees"

    def off(data: bytes) -> ModelRun:
        run = run_model(data)
        return ModelRun(run.verdict, run.inputs, {name: a + 1 for name, a in run.outputs.items()})

    run_model = compare_outputs.run_model
    monkeypatch.setattr(compare_outputs, "run_model", off)
    found = judge(damaged(onnx_seeds()[0]))
    assert (found.status, found.tier) == ("mismatch", "damaged file")
