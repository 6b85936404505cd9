"""Transposes move towards the results and cancel; reshapes are joined."""

from typing import Any

import numpy as np
import pytest

from irkit.fuzz import check_pass
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Value, interpret, parse
from irkit.passes.graph import eliminate_dead_nodes, move_transposes
from tests.draws import few_or_all
from tests.passes.graph.programs import ops

NHWC = """\
def main(x: f32[1, 2, 3, 4]):
    k: f32[2] = constant([1.0, 2.0])
    a = transpose(x, axes=(0, 2, 3, 1))
    b = multiply(a, k)
    c = tanh(b)
    d = add(k, c)
    e = add(c, d)
    f = max(e, axes=(1, 2), keepdims=True)
    g = subtract(e, f)
    h = transpose(g, axes=(0, 3, 1, 2))
    return h
"""


def simplified(func: GraphFunc) -> GraphFunc:
    return eliminate_dead_nodes(move_transposes(func))


def test_what_is_between_two_transposes_runs_without_them() -> None:
    text = NHWC.replace("e = add(c, d)", "e = sqrt(d)").replace("g = subtract(e, f)", "g = abs(f)")
    func = parse(text)
    assert "transpose" in ops(func)
    after = simplified(func)
    assert "transpose" not in ops(after)
    x = np.random.default_rng(0).normal(size=(1, 2, 3, 4)).astype("f")
    np.testing.assert_array_equal(
        np.asarray(interpret(after, [x])), np.asarray(interpret(func, [x]))
    )


def test_a_transpose_that_another_operator_needs_stays() -> None:
    func = parse("""\
def main(x: f32[2, 3]):
    a = transpose(x, axes=(1, 0))
    b = relu(a)
    c = softmax(a)
    d = add(b, c)
    return d
""")
    assert move_transposes(func) is func


def test_two_reshapes_become_one() -> None:
    func = parse("""\
def main(x: f32[2, 6]):
    a = reshape(x, shape=(3, 4))
    b = reshape(a, shape=(2, -1))
    return b
""")
    assert ops(simplified(func)) == []


@pytest.mark.parametrize("shape", ["[2]", "[3, 1]", "[3, 2]"])
def test_a_constant_is_turned_the_other_way(shape: str) -> None:
    numbers = {"[2]": "[1.0, 2.0]", "[3, 1]": "[1.0, 2.0, 3.0]"}.get(
        shape, "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]"
    )
    func = parse(f"""\
def main(x: f32[2, 3]):
    k: f32{shape} = constant({numbers})
    a = transpose(x, axes=(1, 0))
    b = subtract(k, a)
    c = transpose(b, axes=(1, 0))
    return c
""")
    after = simplified(func)
    assert ops(after) == ["subtract"]
    x = np.arange(6, dtype="f").reshape(2, 3)
    np.testing.assert_array_equal(
        np.asarray(interpret(after, [x])), np.asarray(interpret(func, [x]))
    )


def turned_graph(picks: Picks) -> GraphFunc:
    rng, b = np.random.default_rng(picks.below(99)), Builder("main")
    x: Value = b.param("x", (2, 3, 2))
    results: list[Value] = []
    for _ in range(2 + picks.below(5)):
        rank = len(x.type.shape)
        match picks.below(6):
            case 0 | 1:
                order = [int(axis) for axis in rng.permutation(rank)]
                x = b.op("transpose", x, axes=tuple(order))
            case 2:
                x = b.op(picks.pick(("relu", "negative", "floor")), x)
            case 3:
                last = int(x.type.shape[-1].value) if rank else 1
                k = b.constant(rng.integers(-2, 3, picks.pick(((1,), (last,)))).astype("f"))
                x = b.op(
                    picks.pick(("subtract", "maximum")), *((x, k) if picks.below(2) else (k, x))
                )
            case 4 if rank > 1:
                axes = (picks.below(rank),)
                x = b.op("max", x, axes=axes, keepdims=bool(picks.below(2)))
            case _:
                x = b.op("add", x, b.op("abs", x))
        if picks.one_in(5):
            results.append(x)
    return b.finish(*results, b.op("relu", x))


@check_pass(move_transposes, strategy=turned_graph, examples=few_or_all(12, 40))
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
