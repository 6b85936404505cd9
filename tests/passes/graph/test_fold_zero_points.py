"""Zero points leave integer products with constant weights."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRModule
from irkit.fuzz import check_pass
from irkit.graph import interpret, parse
from irkit.passes.graph import eliminate_dead_nodes, fold_zero_points
from tests.draws import few_or_all
from tests.passes.graph.programs import ops
from tests.shared.aimed_graphs import integer_products

PADDED = """\
def main(x: u8[1, 1, 3, 3]):
    w: i16[1, 1, 2, 2] = constant([1, -2, 3, 4])
    z: i16[1] = constant([200])
    a = cast(x, dtype="i16")
    b = subtract(a, z)
    y = conv_integer(b, w, pads=(1, 0, 0, 1))
    return y
"""


def test_pads_of_a_convolution_hold_the_zero_point() -> None:
    func = parse(PADDED)
    after = eliminate_dead_nodes(fold_zero_points(func))
    assert ops(after) == ["pad", "conv_integer", "cast", "multiply", "subtract"]
    x = np.arange(9, dtype=np.uint8).reshape(1, 1, 3, 3)
    np.testing.assert_array_equal(
        np.asarray(interpret(after, [x])), np.asarray(interpret(func, [x]))
    )


LEFT = [
    ("constant([200])", "constant([300])"),
    ("x: u8", "x: i16"),
    ("z: i16[1] = constant([200])", "z: i16[1, 1, 1, 3] = constant([200, 1, 2])"),
]


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_a_zero_point_stays_where_pads_cannot_hold_it(old: str, new: str) -> None:
    func = parse(PADDED.replace("-2", "1000").replace(old, new))
    assert fold_zero_points(func) is func


def test_weights_that_become_bytes_are_multiplied_by_any_narrow_integers() -> None:
    text = """\
def main(x: u16[2, 3]):
    w: i16[3, 2] = constant([1, -2, 3, 4, 5, -6])
    y = matmul_integer(x, w)
    return y
"""
    func = parse(text)
    model = irkit.compile(IRModule({"main": func}))
    x = np.array([[1, 2, 65535], [3, 4, 5]], np.uint16)
    expected = x.astype(np.int32) @ np.array([[1, -2], [3, 4], [5, -6]], np.int32)
    np.testing.assert_array_equal(model.run({"x": x})["y"], expected)


@check_pass(fold_zero_points, strategy=integer_products, examples=few_or_all(12, 40))
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
