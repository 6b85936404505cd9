"""Random programs that call operators of topi."""

import pytest

from irkit import topi
from irkit.fuzz import judge, picks_of
from irkit.fuzz.generators import Sample
from irkit.fuzz.generators.operators.operator_samples import draw_operators
from irkit.fuzz.generators.operators.structured import OPERATORS
from irkit.graph import OPS
from irkit.ir import INTRINSICS
from irkit.te import Tensor
from tests.draws import few_or_all
from tests.mutation.runs.blame import public_names


def drawn_with(name: str) -> Sample:
    samples = (draw_operators(picks_of(number)) for number in range(2000))
    return next(sample for sample in samples if f"topi:{name}" in sample.features)


def test_every_public_operator_is_drawn_here_or_as_a_graph() -> None:
    others = {"RULES", "SHAPED", "STORING", "compute_of"}
    assert set(public_names(topi)) - others <= {*OPERATORS, *OPS, *INTRINSICS}


def test_what_is_drawn_is_right() -> None:
    for number in range(few_or_all(30, 100)):
        found = judge(draw_operators(picks_of(number)), native=False)
        assert found.ok, found.message


@pytest.mark.parametrize("name", ["floor_divide", "dense", "gather"])
def test_operators_that_no_graph_has_are_right(name: str) -> None:
    assert judge(drawn_with(name)).ok


def test_a_wrong_operator_disagrees_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(x: Tensor) -> Tensor:
        return topi.add(x, x)

    monkeypatch.setattr(topi, "square", doubled)
    found = judge(drawn_with("square"))
    assert (found.status, found.tier) == ("mismatch", "interpreter")
    assert "disagrees with NumPy" in found.message
