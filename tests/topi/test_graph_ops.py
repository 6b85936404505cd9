"""Every graph operator has a tensor expression."""

from irkit.graph import OPS, Builder, TensorType
from irkit.ir import INTRINSICS, as_int
from irkit.topi import RULES, SHAPED, STORING


def test_every_graph_operator_has_a_row() -> None:
    assert set(OPS) - set(RULES) - set(SHAPED) == STORING
    assert not set(RULES) & set(SHAPED)


def test_no_row_is_for_an_operator_that_does_not_exist() -> None:
    assert set(RULES) - set(OPS) <= set(INTRINSICS)


def test_an_extent_of_minus_one_is_that_of_the_argument() -> None:
    b = Builder()
    made = b.op("broadcast_to", b.param("x", (3, 1)), shape=(2, -1, 4))
    assert isinstance(made.type, TensorType)
    assert [as_int(extent) for extent in made.type.shape] == [2, 3, 4]
