"""Attention means a product, a softmax and a product, and its mistakes are named."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import DTypeError, OptionError, ShapeError
from irkit.graph import OPS, tensor_type
from tests.shared.attentions import Sizes, exact, operands

ATTENTION = OPS["attention"]


@settings(derandomize=True)
@given(
    sizes=st.tuples(*[st.integers(1, 5)] * 4),
    lead=st.sampled_from(((), (2,), (2, 3))),
    mask=st.sampled_from(("none", "f64", "bool")),
    seed=st.integers(0, 99),
)
def test_it_is_softmax_of_a_product_times_values(
    sizes: tuple[int, int, int, int], lead: tuple[int, ...], mask: str, seed: int
) -> None:
    given = operands(Sizes(lead, *sizes), mask, np.float64, seed)
    found = ATTENTION.evaluate(given, {"scale": 0.5})
    assert np.allclose(found, exact(given, 0.5), rtol=1e-12, atol=1e-12)


def test_results_lie_in_the_order_of_axes() -> None:
    given = operands(Sizes((2, 3), 4, 5, 6, 7), "none", np.float32)
    plain, turned = (ATTENTION.evaluate(given, a) for a in ({}, {"axes": (0, 2, 1, -1)}))
    assert np.array_equal(turned, np.asarray(plain).transpose(0, 2, 1, 3))


def test_a_row_without_keys_is_the_mean_with_a_finite_fill_and_no_number_without() -> None:
    q, k, v, _ = operands(Sizes((), 2, 3, 4, 5), "bool", np.float64)
    mask = np.array([[True] * 3, [False] * 3])
    found = ATTENTION.evaluate([q, k, v, mask], {"fill": -1e9})
    assert np.allclose(np.asarray(found)[1], v.mean(axis=0))
    assert np.isnan(np.asarray(ATTENTION.evaluate([q, k, v, mask], {}))[1]).all()
    without = np.asarray(ATTENTION.evaluate([q, k, v, mask], {"empty": True}))
    assert np.array_equal(without[1], np.zeros(5))
    assert np.allclose(without[0], np.asarray(found)[0])


WRONG: list[tuple[list[str], dict[str, Any], str]] = [
    (["2,3", "4,5", "5,6"], {}, "argument k: expected 3 along axis -2"),
    (["2,3", "3,5", "4,6"], {}, "argument v: expected 5 along axis -2"),
    (["3", "3,5", "5,6"], {}, "argument q must have rank 2 or more"),
    (["2,3", "3,5", "5,6", "2,4"], {}, "argument mask: expected the last axes to broadcast"),
    (["2,3", "3,5", "5,6", "3,1"], {}, "argument mask: expected the last axes to broadcast"),
    (["2,2,3", "3,3,5", "5,6"], {}, "does not broadcast"),
    (["2,3", "3,5", "5,6"], {"axes": (0, 0)}, "attribute axes must order 2 axes"),
    (["2,3", "3,5", "5,6"], {"rows": -1}, "rows, columns and part must be at least 0"),
]


@pytest.mark.parametrize(("args", "attrs", "message"), WRONG)
def test_mistakes_are_named(args: list[str], attrs: dict[str, Any], message: str) -> None:
    types = [tensor_type([int(part) for part in arg.split(",")]) for arg in args]
    with pytest.raises((ShapeError, OptionError), match=message):
        ATTENTION.infer(types, attrs)


def test_operands_are_floats_of_one_type() -> None:
    types = [tensor_type((2, 2), "i32")] * 3
    with pytest.raises(DTypeError, match="argument q must be floats, found i32"):
        ATTENTION.infer(types, {})
    types = [tensor_type((2, 2), "f32"), tensor_type((2, 2), "f64"), tensor_type((2, 2), "f32")]
    with pytest.raises(DTypeError, match="argument k"):
        ATTENTION.infer(types, {})
