"""Scales and shifts by constants go into weights and biases, where the result is the same."""

from typing import Any

import numpy as np
import pytest

from irkit.core import Recorder, recording
from irkit.fuzz import check_pass
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Value, interpret, parse
from irkit.passes.graph import eliminate_dead_nodes, fold_scales
from tests.draws import few_or_all
from tests.passes.graph.programs import ops

CONV = """\
def main(x: f32[1, 2, 4, 4], other: f32[2, 1, 1]):
    w: f32[2, 1, 3, 3] = constant([{weights}])
    s: f32[2, 1, 1] = constant([0.5, -2.0])
    t: f32[1, 2, 1, 1] = constant([1.0, 3.0])
    v: f32[2] = constant([2.0, 4.0])
    a = subtract(x, t)
    b = divide(a, s)
    c = conv(b, w, v, groups=2)
    d = multiply(s, c)
    e = add(d, t)
    return e
""".format(weights=", ".join(f"{at}.0" for at in range(18)))


def test_all_that_scales_and_shifts_becomes_one_convolution() -> None:
    func = parse(CONV)
    after = eliminate_dead_nodes(fold_scales(func))
    assert ops(after) == ["conv"]
    inputs = [
        np.random.default_rng(0).normal(size=(1, 2, 4, 4)).astype("f"),
        np.ones((2, 1, 1), "f"),
    ]
    found, expected = (np.asarray(interpret(each, inputs)) for each in (after, func))
    np.testing.assert_allclose(found, expected, 1e-4, 1e-3)


def test_a_shift_before_pads_stays_and_the_remark_says_why() -> None:
    func = parse(CONV.replace("groups=2", "groups=2, pads=(1, 1, 1, 1)"))
    with recording(Recorder()) as recorder:
        after = eliminate_dead_nodes(fold_scales(func))
    assert ops(after) == ["subtract", "conv"]
    said = {each.text for each in recorder.remarks}
    assert said == {"a shifts what is padded with 0: it stays; pad before the shift"}


def test_a_scalar_that_a_step_broadcasts_has_no_column_to_scale() -> None:
    func = parse("""\
def main(x: f32[()]):
    w: f32[3, 2] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    k: f32[3] = constant([1.0, 2.0, 4.0])
    a = multiply(x, k)
    b = matmul(a, w)
    return b
""")
    after = fold_scales(func)
    inputs = [np.array(2.0, "f")]
    np.testing.assert_array_equal(interpret(after, inputs), interpret(func, inputs))


PLAIN = """\
def main(x: f32[1, 2, 4, 4], other: f32[2, 1, 1]):
    w: f32[2, 2, 1, 1] = constant([1.0, 2.0, 3.0, 4.0])
    s: f32[2, 1, 1] = constant([0.5, -2.0])
    c = conv(x, w)
    d = multiply(s, c)
    return d
"""
LEFT = [
    ("multiply(s, c)", "multiply(other, c)"),
    ("s: f32[2, 1, 1] = constant([0.5, -2.0])", "s: f32[1, 4] = constant([0.5, -2.0, 1.0, 1.0])"),
    ("[0.5, -2.0]", "[1e38, 3e38]"),
    ("return d", "e = add(d, c)\n    return e"),
]


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_what_is_no_constant_of_a_channel_stays(old: str, new: str) -> None:
    func = parse(PLAIN.replace(old, new))
    assert fold_scales(func) is func


def test_weights_that_are_given_at_the_call_stay() -> None:
    constant = "    w: f32[2, 2, 1, 1] = constant([1.0, 2.0, 3.0, 4.0])\n"
    func = parse(PLAIN.replace(constant, "").replace("]):", "], w: f32[2, 2, 1, 1]):"))
    assert fold_scales(func) is func


def test_columns_of_a_product_are_scaled_and_its_shifts_added_once() -> None:
    func = parse("""\
def main(x: f32[3, 2]):
    w: f32[2, 2] = constant([1.0, 2.0, 3.0, 4.0])
    s: f32[2] = constant([0.5, 2.0])
    t: f32[1, 2] = constant([1.0, -1.0])
    a = multiply(x, s)
    b = add(a, t)
    c = matmul(b, w)
    d = add(c, s)
    e = batch_norm(d, s, s, s, s)
    return e
""")
    after = eliminate_dead_nodes(fold_scales(func))
    assert ops(after) == ["matmul", "add"]
    x = np.random.default_rng(0).normal(size=(3, 2)).astype("f")
    found, expected = (np.asarray(interpret(each, [x])) for each in (after, func))
    np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


class ScaledGraph:
    """A product with constant weights, and operators by constants before and after it."""

    def __init__(self, picks: Picks) -> None:
        self.picks, self.b = picks, Builder("main")
        self.rng = np.random.default_rng(picks.below(1 << 16))

    def numbers(self, *shape: int) -> Value:
        return self.b.constant(self.rng.choice([0.5, 1.0, 2.0, -1.0], shape).astype(np.float32))

    def scaled(self, x: Value, channels: int, rest: int) -> Value:
        name = self.picks.pick(("multiply", "add", "subtract", "divide", "batch_norm"))
        if name == "batch_norm":
            if rest == 0:
                return x
            ones = self.b.constant(np.abs(self.rng.choice([1.0, 4.0], channels)).astype("f"))
            more = [self.numbers(channels) for _ in range(3)]
            return self.b.op(name, x, *more, ones, epsilon=0.0)
        k = self.numbers(*self.picks.pick(((channels, *(1,) * rest), (1,))))
        swap = name in ("multiply", "add") and self.picks.below(2)
        return self.b.op(name, k, x) if swap else self.b.op(name, x, k)

    def draw(self) -> GraphFunc:
        conv = bool(self.picks.below(2))
        x = self.b.param("x", (1, 2, 4, 3) if conv else (2, 3, 2))
        rest = 2 if conv else 0
        before = self.picks.below(3)
        for _ in range(before):
            x = self.scaled(x, 2, rest)
        if conv:
            groups = self.picks.pick((1, 2))
            bias = [self.numbers(4)] if self.picks.below(2) else []
            pads = (1, 0, 1, 0) if self.picks.below(2) else (0, 0, 0, 0)
            w = self.numbers(4, 2 // groups, 2, 2)
            x = self.b.op("conv", x, w, *bias, pads=pads, groups=groups)
        else:
            x = self.b.op("matmul", x, self.numbers(2, 4))
        for _ in range(self.picks.below(3) + (not before)):
            x = self.scaled(x, 4, rest)
        return self.b.finish(x)


@check_pass(
    fold_scales, strategy=lambda picks: ScaledGraph(picks).draw(), examples=few_or_all(15, 60)
)
def test_drawn_graphs_keep_their_results(case: Any) -> None: ...
