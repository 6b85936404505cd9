"""Long sums of narrow floats, which inputs with few values other than 0 decide."""

from typing import Any

import numpy as np
import pytest

from irkit.core import rewrite, substitute
from irkit.debug import Verdict, check
from irkit.debug.execution.sparse_inputs import sparse_sets
from irkit.ir import LOOP_LEVEL, Expr, For, PrimFunc, eq, parse, select
from irkit.transform import Phase, Pipeline, define_pass

SUM = """
def f(A: bf16[{n}], C: bf16[1]):
    C[0] = bf16(0.0)
    for i in serial(0, {n}):
        C[0] = C[0] + A[i]
"""
DOT = """
def f(A: bf16[{n}], B: bf16[{n}], C: bf16[1]):
    C[0] = bf16(0.0)
    for i in serial(0, {n}):
        C[0] = C[0] + A[i] * B[i]
"""


def backwards(loop: For) -> Expr:
    return loop.end - 1 - loop.var


def one_twice(loop: For) -> Expr:
    """Read one element twice, and its neighbour never."""
    return select(eq(loop.var, loop.end // 3), loop.end // 3 + 1, loop.var)


def verdict(text: str, turned: Any) -> Verdict:
    @define_pass(changes_rounding=True)
    def turn(func: PrimFunc) -> PrimFunc:
        """Read other elements of the sum."""

        def other(loop: For) -> For:
            return loop.replace(body=substitute(loop.body, {loop.var: turned(loop)}))

        return rewrite(func, other, on=For)

    (found,) = check(Pipeline(LOOP_LEVEL, (Phase(0, "only", (turn,)),)).steps(parse(text)))
    return found


@pytest.mark.parametrize(
    ("text", "turned", "status"),
    [
        (DOT.format(n=64), backwards, "rounds differently"),
        (SUM.format(n=600), backwards, "rounds differently"),
        (SUM.format(n=600), one_twice, "differs"),
        pytest.param(DOT.format(n=4096), backwards, "rounds differently", marks=pytest.mark.long),
        pytest.param(DOT.format(n=4096), one_twice, "differs", marks=pytest.mark.long),
    ],
)
def test_a_sum_that_rounding_can_turn_into_anything_is_decided_by_sparse_inputs(
    text: str, turned: Any, status: str
) -> None:
    found = verdict(text, turned)
    assert found.status == status
    if found.ok:
        assert "sparse values" in found.tried
    else:
        assert found.inputs.startswith("sparse values")


def test_each_element_is_a_one_in_some_set() -> None:
    func = parse(SUM.format(n=1000))
    sets = [np.asarray(each.args[0], np.float32) for each in sparse_sets(func, dims={}, seed=0)]
    assert all(np.count_nonzero(each) <= 252 for each in sets)
    assert np.any(sets, axis=0).all()
