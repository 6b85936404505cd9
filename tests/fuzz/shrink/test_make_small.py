"""A wrong sample shrinks to the part that is wrong."""

from contextlib import suppress

import msgspec
import numpy as np
import pytest

from irkit.core import rewrite
from irkit.debug import NO_SCHEDULE, InputSet
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import Kind, Sample, Unusable
from irkit.fuzz.judge import Outcome, judge
from irkit.fuzz.picks import picks_of
from irkit.fuzz.shrink.choices import record_choices, replay_choices
from irkit.fuzz.shrink.forked_judge import judge_in_fork
from irkit.fuzz.shrink.make_small import make_small
from irkit.graph import GraphFunc, Op, parse as parse_graph
from irkit.ir import Max, PrimFunc
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import define_pass
from tests.fuzz.shrink.crashing_pass import crash


@define_pass
def forget_maxima(func: PrimFunc) -> PrimFunc:
    """Take the first operand for the larger one, which is wrong."""
    return rewrite(func, lambda node: node.a, on=Max)


def drawn(kind: Kind, number: int) -> Sample:
    for other in range(number, number + 20_000, 1000):
        with suppress(Unusable):
            return draw_sample(kind, picks_of(other))
    raise AssertionError(f"nothing draws {kind}")


def with_pass(sample: Sample, p: object) -> Sample:
    return msgspec.structs.replace(sample, pipeline=DEFAULT.with_passes([(0, p)]))  # pyright: ignore


def _first_wrong(p: object, status: str = "") -> tuple[list[int], Sample, Outcome]:
    for number in range(500):
        picks, kept = record_choices(picks_of(number))
        sample = with_pass(draw_sample("programs", picks), p)
        outcome = judge(sample)
        if outcome.is_finding and status in ("", outcome.status):
            return kept, sample, outcome
    raise AssertionError("nothing was found")


def test_a_wrong_sample_shrinks_to_one_stage_one_pass_and_a_number() -> None:
    kept, sample, outcome = _first_wrong(forget_maxima)
    assert outcome.named == "forget-maxima"
    small = make_small(
        sample,
        outcome,
        judge,
        choices=tuple(kept),
        redraw=lambda made: with_pass(draw_sample("programs", replay_choices(made)), forget_maxima),
    )
    assert small.outcome.named == "forget-maxima"
    assert (small.size.stages, small.size.steps, small.size.passes) == (1, 0, 1)
    assert isinstance(small.sample.ir, PrimFunc)
    assert len(small.sample.ir.script().splitlines()) <= 4
    assert judge(small.sample).status == outcome.status


@define_pass
def forget_the_second_operand(func: GraphFunc) -> GraphFunc:
    """Add a value to itself, which is wrong."""

    def double(call: Op) -> Op | None:
        if call.name != "add" or call.args[0] is call.args[1]:
            return None
        return call.replace(args=(call.args[0], call.args[0]))

    return rewrite(func, double, on=Op)


def test_a_wrong_graph_shrinks_to_the_wrong_operator() -> None:
    text = """
def main(x: f32[4], y: f32[4]):
    a = exp(x)
    b = negative(y)
    c = add(a, b)
    d = multiply(c, c)
    e = relu(d)
    return e
"""
    func = parse_graph(text)
    args = (np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32))
    pipeline = GRAPH.with_passes([(0, forget_the_second_operand)])
    inputs = (InputSet("given", "given", args),)
    limits = ((np.array(1e-3),),)
    sample = Sample("graphs", func, pipeline, NO_SCHEDULE, inputs, (None,), limits)
    small = make_small(sample, judge(sample), judge)
    assert small.outcome.named == "forget-the-second-operand"
    assert (small.size.stages, small.size.passes) == (1, 1)
    assert isinstance(small.sample.ir, GraphFunc)
    assert "add(" in small.sample.ir.script()
    assert not judge(small.sample).ok


BODIES = """
def main(x: f32[4], c: bool[()]):
    @function()
    def f(p: f32[4], q: f32[4]):
        if c:
            a: f32[4] = exp(q)
            b: f32[4] = add(p, a)
            d: f32[4] = b
        else:
            i: f32[4] = negative(p)
            d: f32[4] = i
        return d
    e = relu(x)
    with let():
        h = f(x, e)
        r = relu(h)
        g: f32[4] = r
    t = (g, e)
    return t
"""


def test_a_fault_inside_nested_bodies_shrinks_to_one_operator() -> None:
    func = parse_graph(BODIES)
    x = np.arange(4, dtype=np.float32)
    expected = (x + np.exp(x), x)
    pipeline = GRAPH.without("plan-memory").without("lower-to-loops")
    pipeline = pipeline.with_passes([(0, forget_the_second_operand)])
    inputs = (InputSet("fractions", "fractions", (x, np.array(True))),)
    limits = ((np.array(1e-3), np.array(1e-3)),)
    sample = Sample("graphs", func, pipeline, NO_SCHEDULE, inputs, (expected,), limits)
    small = make_small(sample, judge(sample), judge)
    assert small.outcome.named == "forget-the-second-operand"
    assert (small.size.stages, small.size.passes) == (1, 1)
    assert isinstance(small.sample.ir, GraphFunc)
    assert "if" not in small.sample.ir.script()
    assert "add(" in small.sample.ir.script()
    assert not judge(small.sample).ok


def test_numbers_with_a_tolerance_are_never_compared_bit_for_bit() -> None:
    kept, sample, outcome = _first_wrong(forget_maxima, "mismatch")
    assert kept
    off = msgspec.structs.replace(sample, allowed=((np.array(1e-6),) * len(sample.allowed[0]),))
    asked: list[Sample] = []

    def judge_sample(each: Sample) -> Outcome:
        asked.append(each)
        return judge(each)

    small = make_small(off, outcome, judge_sample)
    assert small.size.passes == 1
    assert asked
    assert all(each.allowed == off.allowed for each in asked)


@pytest.mark.long
def test_a_sample_that_crashes_shrinks_too() -> None:
    sample = with_pass(drawn("programs", 1), crash)
    small = make_small(sample, judge_in_fork(sample), judge_in_fork, seconds=3)
    assert small.size.passes == 1
    assert judge_in_fork(small.sample).status == "crash"
