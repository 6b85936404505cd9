"""Every graph operator has a tensor expression."""

from irkit.graph import OPS, Builder, Op
from irkit.ir import INTRINSICS, as_int
from irkit.te import placeholder
from irkit.topi import RULES, compute_of


def test_every_graph_operator_has_a_row() -> None:
    assert set(OPS) - set(RULES) == set()


def test_no_row_is_for_an_operator_that_does_not_exist() -> None:
    assert set(RULES) - set(OPS) <= set(INTRINSICS)


def test_an_extent_of_minus_one_is_that_of_the_argument() -> None:
    x = Builder().param("x", (3, 1))
    (found,) = compute_of(
        Op("broadcast_to", (x,), (("shape", (2, -1, 4)),)), [placeholder((3, 1), name="x")]
    )
    assert [as_int(extent) for extent in found.shape] == [2, 3, 4]
