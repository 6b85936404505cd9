"""A model that is cut is refused where it ends, and a wrong place is found."""

from typing import Any

import pytest

from irkit.frontend.onnx import encoding_errors
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.judge import Outcome, judge
from irkit.fuzz.picks import picks_of


def found_in(count: int) -> Outcome | None:
    """Return the first finding in some models that are cut."""
    for number in range(count):
        sample = draw_sample("onnx", picks_of(number))
        names = ["package reads back"]
        outcome = judge(sample, invariants=names, number=number, native=False)
        if outcome.is_finding:
            return outcome
    return None


def test_the_place_where_a_model_was_cut_is_right() -> None:
    assert found_in(6) is None


@pytest.mark.parametrize("how", ["the number", "the length"])
def test_a_wrong_place_is_found(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    walk: Any = getattr(encoding_errors, "_Walk")
    right = walk._varint

    def varint(self: Any) -> int:
        found = right(self)
        if how == "the number":
            self.at += self.at > 5
        return found + (how == "the length" and found > 30)

    monkeypatch.setattr(walk, "_varint", varint)
    found = found_in(6)
    assert found is not None
    assert "is refused at byte" in found.message
