"""Changed programs: legal, different, with one meaning, and the same for the same numbers."""

import re

import numpy as np
import pytest

from irkit.debug import InputSet
from irkit.fuzz.campaign.draw import draw_of
from irkit.fuzz.generators import Sample, Unusable
from irkit.fuzz.generators.sample import LOOP_SAMPLES
from irkit.fuzz.guidance.constants import draw_constant, source_constants
from irkit.fuzz.guidance.program_changes import changed_program
from irkit.fuzz.judge import judge
from irkit.fuzz.picks import picks_of
from irkit.ir import I64, PrimFunc, as_dtype, parse, script, verify
from irkit.phases import DEFAULT

COPY = """\
def copy(A: i64[8], C: i64[8]):
    for i in serial(0, 8):
        C[i] = A[i] + 5
"""


def sample_of(text: str) -> Sample:
    func = parse(text)
    args = tuple(np.arange(8, dtype=np.int64) for _ in func.params)
    inputs = (InputSet("whole", "whole numbers", args),)
    return Sample("programs", func, DEFAULT, inputs=inputs, expected=(None,), allowed=((),))


def changed(sample: Sample, numbers: range) -> list[Sample]:
    made = [changed_program(sample, picks_of(number)) for number in numbers]
    return [each for each in made if each is not sample]


def test_programs_change_in_every_way() -> None:
    made = changed(sample_of(COPY), range(150))
    texts = {script(each.ir) for each in made if isinstance(each.ir, PrimFunc)}
    assert len(made) > 100
    assert len(texts) > 60
    whole = "\n".join(texts)
    assert len(set(re.findall(r"i64\[\d+\]", whole))) > 4
    for said in ("cast(", "select(", "//", "min(", "<<", "truncmod("):
        assert said in whole, said
    for each in made:
        assert isinstance(each.ir, PrimFunc)
        assert not verify(each.ir)


def test_the_same_number_changes_alike() -> None:
    first, again = (changed(sample_of(COPY), range(5)) for _ in range(2))
    texts = [
        [each.ir.script() for each in made if isinstance(each.ir, PrimFunc)]
        for made in (first, again)
    ]
    assert texts[0] == texts[1]


@pytest.mark.long
def test_changed_programs_of_all_kinds_are_judged_right() -> None:
    ran = 0
    for number in range(24):
        try:
            sample = draw_of(11, number, LOOP_SAMPLES, ()).sample()
        except Unusable:
            continue
        for each in changed(sample, range(number, number + 1)):
            outcome = judge(each, native=number % 4 == 0)
            assert outcome.ok, outcome.message
            ran += 1
    assert ran > 12


@pytest.mark.parametrize(
    "text",
    [
        "def f(A: f32[8], C: f32[8]):\n    for i in serial(0, 8):\n        C[i] = exp(A[i])\n",
        "def f(A: f32[8], C: f32[8]):\n    for i in serial(0, 8):\n"
        "        C[i] = min(A[i], f32(0.0)) / A[i]\n",
    ],
)
def test_what_native_code_may_round_otherwise_stays(text: str) -> None:
    assert not changed(sample_of(text), range(30))


def test_nothing_reads_memory_that_was_never_written() -> None:
    text = """\
def f(A: i64[8], C: i64[8]):
    T = alloc(i64[8])
    for i in serial(0, 8):
        T[i] = A[i]
    for j in serial(0, 8):
        C[j] = T[j]
"""
    for each in changed(sample_of(text), range(60)):
        assert isinstance(each.ir, PrimFunc)
        assert "T[i" in each.ir.script().split("C[", 1)[0]


def test_constants_of_the_source_and_of_the_program_are_drawn() -> None:
    whole, floats = source_constants()
    assert {0x7FFF, 127, 2**31, 2} <= set(whole)
    assert len(floats) > 50
    drawn = {draw_constant(I64, [77], picks_of(number)) for number in range(3000)}
    assert {76, 77, 78, 32767, 2**31} <= drawn
    assert {draw_constant(as_dtype("u8"), [], picks_of(n)) for n in range(200)} <= set(range(256))
