"""Scales and shifts that follow each other become one of each."""

from typing import Any

import numpy as np
import pytest

from irkit.fuzz import check_pass
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Value, interpret, parse
from irkit.passes.graph import eliminate_dead_nodes, join_scales
from tests.draws import few_or_all
from tests.passes.graph.programs import ops


def test_a_norm_and_what_follows_it_is_one_scale_and_one_shift() -> None:
    func = parse("""\
def main(x: f32[2, 2, 3]):
    s: f32[2] = constant([0.5, 2.0])
    t: f32[2, 1] = constant([4.0, 3.0])
    n = batch_norm(x, s, s, s, s)
    a = divide(n, t)
    b = subtract(a, t)
    c = multiply(t, b)
    return c
""")
    after = eliminate_dead_nodes(join_scales(func))
    assert ops(after) == ["multiply", "add"]
    x = np.random.default_rng(0).normal(size=(2, 2, 3)).astype("f")
    found, expected = (np.asarray(interpret(each, [x])) for each in (after, func))
    np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


LEFT = [
    "a = multiply(x, k)\n    b = add(a, x)",  # Not by a constant.
    "a = multiply(x, k)\n    b = multiply(a, k)\n    c = add(a, b)",  # Used twice.
    "a = multiply(x, big)\n    b = multiply(a, big)",  # Infinity has another meaning.
    "a = multiply(x, k)\n    b = multiply(a, row)",  # Along two axes.
    "a = multiply(x, k)\n    b = add(a, k)",  # One of each.
    'a = cast(x, dtype="i32")\n    b = add(a, n)\n    c = add(b, n)',  # Integers wrap around.
    "a = multiply(wide, x)\n    b = multiply(a, wide)",  # The scale makes the shape.
]


@pytest.mark.parametrize("lines", LEFT)
def test_other_arithmetic_stays(lines: str) -> None:
    last = lines.split("\n")[-1].split("=")[0].strip()
    func = parse(f"""\
def main(x: f32[2, 3]):
    k: f32[2, 1] = constant([2.0, 3.0])
    row: f32[3] = constant([2.0, 3.0, 4.0])
    big: f32[1] = constant([1e38])
    n: i32[1] = constant([1])
    wide: f32[4, 1, 1] = constant([1.0, 2.0, 3.0, 4.0])
    {lines}
    return {last}
""")
    assert join_scales(func) is func


def drawn_graph(picks: Picks) -> GraphFunc:
    """Draw a chain of scales, shifts and others."""
    b, rng = Builder("main"), np.random.default_rng(picks.below(1 << 16))

    def numbers(*shape: int) -> Value:
        return b.constant(rng.choice([0.5, 1.0, 2.0, -1.0], shape).astype(np.float32))

    x = b.param("x", (2, 3, 2))
    for _ in range(1 + picks.below(6)):
        name = picks.pick(("multiply", "add", "subtract", "divide", "batch_norm", "relu"))
        if name == "batch_norm":
            norm = [*(numbers(3) for _ in range(3)), b.constant(np.array([1, 4, 1], np.float32))]
            x = b.op(name, x, *norm, epsilon=0.0)
        elif name == "relu":
            x = b.op(name, x)
        else:
            k = numbers(*picks.pick(((3, 1), (1,), (2, 1, 1))))
            swap = name in ("multiply", "add") and picks.below(2)
            x = b.op(name, k, x) if swap else b.op(name, x, k)
    return b.finish(x)


@check_pass(join_scales, strategy=drawn_graph, examples=few_or_all(12, 60))
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
