"""Every graph operator has a tensor expression."""

from irkit.graph import OPS
from irkit.ir import INTRINSICS
from irkit.topi import RULES, SHAPED


def test_every_graph_operator_has_a_row() -> None:
    assert set(OPS) - set(RULES) - set(SHAPED) == set()
    assert not set(RULES) & set(SHAPED)


def test_no_row_is_for_an_operator_that_does_not_exist() -> None:
    assert set(RULES) - set(OPS) <= set(INTRINSICS)
