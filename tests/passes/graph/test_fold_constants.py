"""Operators on constants become constants, within limits of memory."""

import numpy as np

from irkit.graph import Constant, Op, parse
from irkit.passes.graph import eliminate_dead_nodes, fold_constants
from tests.passes.graph.programs import ops


def test_a_chain_of_constants_folds_to_one() -> None:
    func = parse("""\
def main(x: f32[2]):
    a: f32[2] = constant([1.0, 2.0])
    b = add(a, a)
    c = multiply(b, a)
    d = add(x, c)
    return d
""")
    after = eliminate_dead_nodes(fold_constants(func))
    assert ops(after) == ["add"]
    (step,) = [b.step for b in after.body.bindings if isinstance(b.step, Constant)]
    np.testing.assert_array_equal(step.data.array, [2.0, 8.0])


def test_constants_that_would_grow_too_large_stay_operators() -> None:
    func = parse("def main():\n    a = full(shape=(64,), value=1.0)\n    return a\n")
    assert fold_constants(func, max_bytes=255) is func
    assert fold_constants(func, max_bytes=256) is not func


def test_a_result_no_larger_than_its_operands_is_folded_whatever_its_size() -> None:
    lines = ["w: f32[2, 2] = constant([1.0, 2.0, 3.0, 4.0])", "t = transpose(w, axes=(1, 0))"]
    func = parse("\n    ".join(["def main():", *lines, "return t", ""]))
    after = fold_constants(func, max_bytes=1, max_total_bytes=1)
    assert not any(isinstance(bind.step, Op) for bind in after.body.bindings)


def test_absent_constants_are_not_folded() -> None:
    digest = "0" * 64
    lines = [f'a: f32[99] = constant(digest="{digest}")', "b = relu(a)", "return b", ""]
    func = parse("\n    ".join(["def main():", *lines]), absent=True)
    assert fold_constants(func) is func
