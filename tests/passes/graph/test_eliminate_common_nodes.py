"""What is computed twice in the same way is computed once."""

from typing import Any

import numpy as np
import pytest

from irkit.core import Recorder, recording
from irkit.fuzz import check_pass
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Tuple, Value, parse
from irkit.passes.graph import eliminate_common_nodes

PROGRAM = """\
def main(x: f32[2, 3]):
    a: f32[3] = constant([1.0, 2.0, 3.0])
    b: f32[3] = constant([1.0, 2.0, 3.0])
    c = add(x, a)
    d = add(x, b)
    p = (c, d)
    e = p[0]
    f = p[1]
    g = multiply(e, f)
    return g
"""


def test_constants_operators_and_items_are_shared() -> None:
    names = [bind.var.name for bind in eliminate_common_nodes(parse(PROGRAM)).body.bindings]
    assert names == ["a", "c", "p", "e", "f", "g"]


def test_results_can_be_the_same_value() -> None:
    func = parse(PROGRAM.replace("p = (c, d)", "p = (d, c)"))
    (pair,) = [b.step for b in eliminate_common_nodes(func).body.bindings if b.var.name == "p"]
    assert isinstance(pair, Tuple)
    assert pair.items[0] is pair.items[1]


LEFT = [
    ("b: f32[3] = constant([1.0", "b: f32[3] = constant([-1.0"),
    ("b: f32[3] = constant([1.0, 2.0, 3.0])", "b: f32[1, 3] = constant([1.0, 2.0, 3.0])"),
    ("d = add(x, b)", "d = subtract(x, a)"),
    ("d = add(x, b)", "d = add(a, x)"),
]


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_what_differs_stays(old: str, new: str) -> None:
    after = eliminate_common_nodes(parse(PROGRAM.replace(old, new)))
    assert {"c", "d", "e", "f"} <= {bind.var.name for bind in after.body.bindings}


def test_attributes_are_compared() -> None:
    func = parse("""\
def main(x: f32[2, 2]):
    a = sum(x, axes=(0,))
    b = sum(x, axes=(1,))
    c = add(a, b)
    return c
""")
    assert eliminate_common_nodes(func) is func


def test_one_that_is_switched_off_stays() -> None:
    func = parse(PROGRAM)
    with recording(Recorder(frozenset(range(9)))):
        assert eliminate_common_nodes(func) is func


def doubled(picks: Picks) -> GraphFunc:
    """Draw operators from few, on few values, so that some are alike."""
    rng, b = np.random.default_rng(picks.below(99)), Builder("main")
    held: list[Value] = [b.param("x", (2, 3)), b.param("y", (2, 3))]
    for _ in range(8):
        if picks.one_in(4):
            held.append(b.constant(rng.integers(0, 2, (1,)).astype(np.float32)))
        elif picks.below(2):
            held.append(b.op(picks.pick(("relu", "abs")), picks.pick(held)))
        else:
            args = picks.pick(held), picks.pick(held)
            held.append(b.op(picks.pick(("add", "maximum")), *args))
    return b.finish(*held[-3:])


@check_pass(eliminate_common_nodes, strategy=doubled, examples=40)
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
