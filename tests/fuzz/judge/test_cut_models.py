"""A model that is cut is refused where it ends, and a wrong place is found."""

from typing import Any

import pytest

from irkit.frontend.onnx import encoding_errors
from irkit.fuzz.generators.onnx_models.model_samples import draw_model
from irkit.fuzz.judge.invariants import FOR_MODELS
from irkit.fuzz.judge.models import ModelCase
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.progress import TierProgress
from irkit.fuzz.picks import picks_of
from tests.draws import few_or_all


def cut_models(count: int) -> None:
    """Check some models that are cut. Raises: WrongSample.

    They are not run, and none is of ONNX's suite, which takes seconds to load.
    """
    for number in range(count):
        case = ModelCase(draw_model(picks_of(number)), TierProgress())
        FOR_MODELS["package reads back"](case, number)


def test_the_place_where_a_model_was_cut_is_right() -> None:
    cut_models(few_or_all(20, 200))


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
    with pytest.raises(WrongSample, match="is refused at byte"):
        cut_models(20)
