"""Samples of constants are right, and find what is folded wrongly."""

import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

from irkit.fuzz.generators.programs.constant_samples import draw_constants
from irkit.fuzz.judge import judge
from irkit.fuzz.picks import picks_of
from irkit.ir.arith import fold


def found_in(count: int) -> bool:
    """Return True if something is wrong with one of some samples."""
    drawn = (draw_constants(picks_of(number)) for number in range(count))
    return any(judge(sample, native=False).is_finding for sample in drawn)


def test_constants_are_folded_rightly() -> None:
    assert not found_in(150)


@pytest.mark.parametrize(
    ("name", "bug"),
    [
        ("_divide", lambda a, b: a / b if b else math.inf),
        ("_convert", lambda value, dtype: 0),
        ("_truncdiv", lambda a, b: a // b if b else 0),
    ],
)
def test_a_wrong_fold_is_found(
    name: str, bug: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules[fold.__module__]
    assert hasattr(module, name)
    monkeypatch.setattr(module, name, bug)
    assert found_in(600)
