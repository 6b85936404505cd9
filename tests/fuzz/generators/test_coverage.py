"""Everything that can be drawn is drawn."""

import pytest

from irkit.frontend.onnx import CONVERTERS
from irkit.fuzz import KINDS, Unusable, draw_sample, never_drawn, picks_of
from irkit.fuzz.generators.coverage import expected_features
from irkit.fuzz.generators.graphs.operators import DRAWS
from irkit.fuzz.generators.onnx_models.operators import ONNX_DRAWS
from irkit.graph import OPS


def test_every_operator_is_drawn() -> None:
    assert set(DRAWS) == set(OPS)
    # The others are judged by the cases of ONNX's own suite.
    assert set(ONNX_DRAWS) <= set(CONVERTERS)


# They take thousands of samples to come up.
SELDOM = {"primitive:tensorize", "primitive:rolling_buffer"}


def _features(count: int) -> set[str]:
    found: set[str] = set()
    for kind in KINDS:
        for number in range(count):
            try:
                found.update(draw_sample(kind, picks_of(number)).features)
            except Unusable:
                continue
    return found


def test_features_never_drawn_are_reported() -> None:
    missing = never_drawn(["node:Select", "pass:simplify"])
    assert "node:Select" not in missing["node"]
    assert "node:Region" in missing["node"]
    assert never_drawn(name for names in expected_features().values() for name in names) == {}


@pytest.mark.long
def test_every_feature_comes_up() -> None:
    missing = {name for names in never_drawn(_features(2000)).values() for name in names}
    assert missing <= SELDOM
