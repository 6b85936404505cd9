"""A crash of the reference is not blamed on irkit."""

import os

import pytest

from irkit.fuzz.generators import onnx_seeds
from irkit.fuzz.judge import judge
from irkit.fuzz.judge.files import compare_outputs
from tests.fuzz.damaged_samples import damaged


def test_a_reference_that_crashes_says_nothing_of_irkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_outputs, "compare_outputs", lambda *ignored: os._exit(3))
    assert judge(damaged(onnx_seeds()[0])).fate == "not compared"
