"""The stages of attention compute what the operator of the graph means, with any tiles."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.core import ShapeError
from irkit.graph import OPS
from tests.draws import few_or_all
from tests.shared.attentions import Sizes, operands


def made(given: list[Any], **options: Any) -> Any:
    """Evaluate the stages on arrays."""
    inputs = [te.placeholder(each.shape, str(te_dtype(each))) for each in given]
    result = topi.nn.attention(*inputs, **options)
    return te.evaluate([result], dict(zip(inputs, given, strict=True)))[0]


def te_dtype(array: Any) -> str:
    return {"float64": "f64", "float32": "f32", "bool": "bool"}[str(array.dtype)]


@settings(max_examples=few_or_all(12, 100), deadline=None, derandomize=True)
@given(
    sizes=st.tuples(*[st.integers(1, 6)] * 4),
    lead=st.sampled_from(((), (2,), (1, 2))),
    mask=st.sampled_from(("none", "f64", "bool")),
    tile=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2)),
    seed=st.integers(0, 99),
)
def test_stages_are_the_operator(
    sizes: Any, lead: Any, mask: str, tile: tuple[int, int, int], seed: int
) -> None:
    given = operands(Sizes(lead, *sizes), mask, np.float64, seed)
    rows, columns, part = tile
    options: dict[str, Any] = {"rows": rows, "columns": columns, "part": part, "scale": 0.5}
    found = made(given, **options)
    assert np.allclose(found, OPS["attention"].evaluate(given, options), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("part", [0, 1])
def test_rows_without_keys_are_no_numbers_and_huge_scores_none_either(part: int) -> None:
    q, k, v, _ = operands(Sizes((), 3, 5, 2, 4), "bool", np.float64)
    mask = np.ones((3, 5), bool)
    mask[1], mask[2, :4] = False, False
    given = [q * 1e300, k * 1e5, v, mask]
    found = made(given, rows=2, columns=2, part=part)
    expected = OPS["attention"].evaluate(given)
    assert np.isnan(found[1]).all()
    assert np.allclose(found, expected, equal_nan=True)
    found = made(given, rows=2, columns=2, part=part, empty=True)
    expected = OPS["attention"].evaluate(given, {"empty": True})
    assert np.array_equal(found[1], np.zeros(4))
    assert np.allclose(found, expected)


@pytest.mark.parametrize("part", [0, 1])
def test_a_finite_fill_gives_a_row_without_keys_the_mean(part: int) -> None:
    q, k, v, _ = operands(Sizes((), 2, 5, 2, 4), "bool", np.float64)
    found = made([q, k, v, np.zeros((2, 5), bool)], fill=-1e9, rows=2, columns=2, part=part)
    assert np.allclose(found, v.mean(axis=0))


def test_operands_must_agree() -> None:
    q, k, v = (te.placeholder(shape, "f32") for shape in ((4, 3), (3, 5), (5, 2)))
    with pytest.raises(ShapeError, match="the last axis of q and that of k before"):
        topi.nn.attention(k, k, v)
    with pytest.raises(ShapeError, match="the last axis of k and that of v before"):
        topi.nn.attention(q, k, k)
    with pytest.raises(ShapeError, match="rows and columns must be at least 1"):
        topi.nn.attention(q, k, v, rows=0)
