"""A few rows are multiplied by what lies in memory, without a copy in another layout."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from irkit.fuzz import check_pass
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, arrays_of, interpret, parse
from irkit.passes.graph import eliminate_dead_nodes, multiply_few_rows
from tests.draws import few_or_all
from tests.passes.graph.programs import ops

ATTENTION = """\
def main(q: f32[2, ROWS, 8], k: f32[1, 2, 64, 8], w: f32[2, ROWS, 64]):
    t = transpose(k, axes=(0, 1, 3, 2))
    m = reshape(t, shape=(2, 8, 64))
    s = matmul(q, m)
    v = reshape(k, shape=(2, 64, 8))
    o = matmul(w, v)
    r = (s, o)
    return r
"""


def changed(text: str) -> tuple[GraphFunc, GraphFunc]:
    func = parse(text)
    return func, eliminate_dead_nodes(multiply_few_rows(func))


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_what_is_large_is_neither_transposed_nor_reshaped(rows: int) -> None:
    before, after = changed(ATTENTION.replace("ROWS", str(rows)))
    found = Counter(ops(after))
    assert "transpose" not in found
    assert (found["sum"], found["matmul"]) == (1, 1)
    rng = np.random.default_rng(rows)
    shapes = ((2, rows, 8), (1, 2, 64, 8), (2, rows, 64))
    inputs = [rng.integers(-3, 4, shape).astype(np.float32) for shape in shapes]
    for one, other in zip(
        arrays_of(interpret(after, inputs)), arrays_of(interpret(before, inputs)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_many_rows_stay_a_product() -> None:
    func = parse(ATTENTION.replace("ROWS", "64"))
    assert multiply_few_rows(func) is func


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("axes=(0, 1, 3, 2)", "axes=(1, 0, 3, 2)"),
        ("k: f32[1, 2, 64, 8]", "k: f64[1, 2, 64, 8]"),
    ],
)
def test_other_transposes_and_other_users_leave_the_product(old: str, new: str) -> None:
    text = ATTENTION.replace("ROWS", "1").replace(old, new)
    if "f64" in new:
        text = text.replace("f32", "f64")
    _, after = changed(text)
    assert ("sum" in ops(after)) == ("f64" in new)


def products(picks: Picks) -> GraphFunc:
    """Draw rows times a matrix that is transposed, or whose axes are joined, or both."""
    b = Builder("main")
    rows, inner, columns = 1 + picks.below(5), 1 + picks.below(6), 1 + picks.below(9)
    lead = picks.pick(((), (2,), (2, 3)))
    turned, joined = picks.one_in(2), len(lead) > 1 and picks.one_in(2)
    shape = (*lead, columns, inner) if turned else (*lead, inner, columns)
    y = b.param("y", shape)
    if turned:
        axes = (*range(len(lead)), len(lead) + 1, len(lead))
        y = b.op("transpose", y, axes=axes)
    outer = lead
    if joined:
        outer = (6,)
        y = b.op("reshape", y, shape=(6, inner, columns))
    x = b.param("x", (*(() if picks.one_in(4) else outer), rows, inner))
    return b.finish(b.op("matmul", x, y))


@check_pass(multiply_few_rows, strategy=products, examples=few_or_all(12, 40))
def test_results_do_not_change(case: Any) -> None: ...
