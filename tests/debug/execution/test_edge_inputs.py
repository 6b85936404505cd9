"""Which values and sizes the inputs at the edges cover."""

from itertools import combinations

import numpy as np
import pytest

from irkit.debug.execution.covering_array import ANY, FEW, covering_rows
from irkit.debug.execution.edge_inputs import EdgeInputs
from irkit.debug.execution.edge_sizes import SIZES
from irkit.debug.execution.edge_values import edges_of, float_edges, integer_edges
from irkit.debug.execution.inputs import InputSet, input_sets
from irkit.debug.execution.row_patterns import filled_rows, rows_of
from irkit.ir import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U64, DType, parse

TYPES = (I8, I16, I32, I64, U8, U64, F16, BF16, F32, F64)
SUM = """
def f(A: f32[n], B: f32[n], C: f32[n]):
    for i in serial(0, n):
        C[i] = A[i] + B[i] * f32(37.0)
"""
LATER = SUM.replace("37.0", "37.0) * f32(611.0")


def edge_inputs(text: str, *later: str, seed: int = 0) -> list[InputSet]:
    func = parse(text.strip())
    edges = edges_of([func, *(parse(each.strip()) for each in later)])
    return list(EdgeInputs(func, edges, dims={}, seed=seed))


@pytest.mark.parametrize("count", [2, 3, 5])
def test_rows_cover_each_pair_of_the_first_values_and_each_value_alone(count: int) -> None:
    pools = [np.arange(20 + place) for place in range(count)]
    rows = covering_rows(pools)
    for one, other in combinations(range(count), 2):
        pairs = set(zip(rows[:, one].tolist(), rows[:, other].tolist(), strict=True))
        assert {(a, b) for a in range(FEW) for b in range(FEW)} <= pairs
    for place, pool in enumerate(pools):
        alone = rows[(rows == ANY).sum(axis=1) == count - 1]
        assert set(range(len(pool))) <= set(alone[:, place].tolist())


def test_each_size_is_tried_and_those_near_constants_first() -> None:
    sizes = [each.args[0].shape[0] for each in edge_inputs(SUM, LATER)]
    assert {*SIZES, 36, 37, 38, 610, 611, 612} <= set(sizes)
    assert sizes.index(611) < sizes.index(37)


def test_each_value_stands_in_each_parameter_whatever_the_seed() -> None:
    func = parse(SUM.strip())
    wanted = {each.tobytes() for each in float_edges(F32, edges_of([func]))}
    for seed in (0, 1):
        made = edge_inputs(SUM, seed=seed)
        for place in (0, 1):
            found = {value.tobytes() for each in made for value in each.args[place]}
            assert wanted <= found


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_whole_rows_and_single_values_fit_every_type(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    edges = float_edges(dtype) if dtype.is_float else integer_edges(dtype)
    assert len(edges) > 20
    for axis in (None, 0, -1):
        for start in range(len(rows_of(dtype))):
            assert filled_rows(dtype, (3, 4), axis, start, rng).shape == (3, 4)


def test_a_scalar_parameter_can_be_a_dimension() -> None:
    text = "def f(n: i64, A: f32[n, 2]):\n    for i in serial(0, n):\n        A[i, 0] = f32(1.0)\n"
    for each in [*input_sets(parse(text)), *edge_inputs(text)]:
        size, array = each.args
        assert array.shape == (size, 2)


def test_indices_are_tried_beyond_guards_and_type_limits() -> None:
    text = """
def f(A: f32[10], P: i32[12], C: f32[12]):
    for i in serial(0, 12):
        C[i] = A[P[i]] if P[i] >= 0 and P[i] < 10 else f32(0.0)
"""
    found = {int(value) for each in edge_inputs(text) for value in each.args[1]}
    assert {-2, -1, 0, 9, 10, 11, 257} <= found
