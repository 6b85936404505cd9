"""Samples that are wrong are made small, and kept as text."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import FormatError, IRKitError, rewrite
from irkit.debug import NO_SCHEDULE, InputSet, Limits
from irkit.fuzz.judging import Outcome, judge
from irkit.fuzz.picks import picks_of
from irkit.fuzz.sample import KINDS, Kind, Sample, Unusable, draw_sample
from irkit.fuzz.shrinking import (
    judged_apart,
    make_small,
    read_sample,
    recorded,
    replayed,
    sample_text,
    shrunk,
    write_sample,
)
from irkit.graph import GraphFunc, Op
from irkit.graph import parse as parse_graph
from irkit.ir import Max, PrimFunc
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import define_pass


@define_pass
def forget_maxima(func: PrimFunc) -> PrimFunc:
    """Take the first operand for the larger one, which is wrong."""
    return rewrite(func, lambda node: node.a, on=Max)


@define_pass
def crash(func: PrimFunc) -> PrimFunc:
    """End the process."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return func


@define_pass
def never_end(func: PrimFunc) -> PrimFunc:
    """Sleep for longer than anybody waits."""
    time.sleep(1e6)
    return func


def drawn(kind: Kind, number: int) -> Sample:
    for other in range(number, number + 20_000, 1000):
        with suppress(Unusable):
            return draw_sample(kind, picks_of(other))
    raise AssertionError(f"nothing draws {kind}")


def with_pass(sample: Sample, p: object) -> Sample:
    return msgspec.structs.replace(sample, pipeline=DEFAULT.with_passes([(0, p)]))  # pyright: ignore


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_drawn_is_drawn_again_from_its_choices(kind: Kind) -> None:
    drawn(kind, 0)
    for number in range(10):
        picks, kept = recorded(picks_of(number))
        try:
            sample = draw_sample(kind, picks)
        except Unusable:
            continue
        again = draw_sample(kind, replayed(kept))
        assert sample_text(sample, {}) == sample_text(again, {})


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 200), max_size=40),
    st.integers(1, 60),
    st.integers(0, 3),
)
def test_choices_become_the_fewest_and_lowest_that_hold(
    choices: list[int], least: int, count: int
) -> None:
    def holds(made: tuple[int, ...]) -> bool:
        return sum(each >= least for each in made) >= count

    if not holds(tuple(choices)):
        return
    found = shrunk(tuple(choices), holds, seconds=60, candidates=10_000)
    assert found == (least,) * count


def _told(value: object) -> list[str]:
    """Show each number: NaN of bf16 is not the same to NumPy as itself."""
    return [str(each) for each in np.asarray(value).ravel()]


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_the_same_after_a_file(kind: Kind, tmp_path: Path) -> None:
    for number in range(8):
        sample = drawn(kind, number)
        path = tmp_path / "sample.toml"
        write_sample(path, sample, {"why": "a reason\nof two lines"})
        again = read_sample(path)
        assert sample_text(again, {}) == sample_text(sample, {})
        for old, new in zip(sample.inputs, again.inputs, strict=True):
            for a, b in zip(old.args, new.args, strict=True):
                assert np.asarray(a).dtype == np.asarray(b).dtype
                assert _told(a) == _told(b)
                assert np.array_equal(np.signbit(a), np.signbit(b)) or np.isnan(a).any()


def test_a_file_that_was_changed_is_refused_or_read(tmp_path: Path) -> None:
    text = sample_text(drawn("programs", 3), {}).encode()
    path = tmp_path / "sample.toml"
    for number in range(300):
        random = np.random.default_rng(number)
        data = bytearray(text)
        at = int(random.integers(len(data)))
        if number % 3:
            data[at] = int(random.integers(256))
        else:
            del data[at:]
        path.write_bytes(data)
        with suppress(IRKitError):
            assert sample_text(read_sample(path), {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("irkit_sample = 1", "irkit_sample = 2"),
        ('kind = "programs"', 'kind = "else"'),
        ('dtype = "', 'dtype = "object", was = "'),
        ("rung = ", 'rung = "no such"\nwas = '),
    ],
)
def test_a_file_that_is_no_sample_is_refused(old: str, new: str, tmp_path: Path) -> None:
    text = sample_text(drawn("programs", 3), {})
    assert old in text
    path = tmp_path / "sample.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(FormatError):
        read_sample(path)


def _first_wrong(p: object, status: str = "") -> tuple[list[int], Sample, Outcome]:
    for number in range(500):
        picks, kept = recorded(picks_of(number))
        sample = with_pass(draw_sample("programs", picks), p)
        outcome = judge(sample)
        if outcome.is_finding and status in ("", outcome.status):
            return kept, sample, outcome
    raise AssertionError("nothing was found")


def test_a_wrong_sample_becomes_one_stage_one_pass_and_a_number() -> None:
    kept, sample, outcome = _first_wrong(forget_maxima)
    assert outcome.named == "forget-maxima"
    small = make_small(
        sample,
        outcome,
        judge,
        choices=tuple(kept),
        redraw=lambda made: with_pass(draw_sample("programs", replayed(made)), forget_maxima),
    )
    assert small.outcome.named == "forget-maxima"
    assert (small.stages, small.steps, small.passes) == (1, 0, 1)
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


def test_a_wrong_graph_becomes_the_one_operator_that_is_wrong() -> None:
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
    assert (small.stages, small.passes) == (1, 1)
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


def test_what_is_wrong_inside_of_bodies_becomes_one_operator() -> None:
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
    assert (small.stages, small.passes) == (1, 1)
    assert isinstance(small.sample.ir, GraphFunc)
    assert "if" not in small.sample.ir.script()
    assert "add(" in small.sample.ir.script()
    assert not judge(small.sample).ok


def test_numbers_that_may_be_off_are_never_compared_bit_for_bit() -> None:
    kept, sample, outcome = _first_wrong(forget_maxima, "mismatch")
    assert kept
    off = msgspec.structs.replace(sample, allowed=((np.array(1e-6),) * len(sample.allowed[0]),))
    asked: list[Sample] = []

    def judged(each: Sample) -> Outcome:
        asked.append(each)
        return judge(each)

    small = make_small(off, outcome, judged)
    assert small.passes == 1
    assert asked
    assert all(each.allowed == off.allowed for each in asked)


def test_a_sample_judged_apart_may_crash_or_hang() -> None:
    sample = drawn("programs", 0)
    assert judged_apart(sample).ok
    crashed = judged_apart(with_pass(sample, crash))
    assert (crashed.status, crashed.tier) == ("crash", "lower")
    assert "SIGSEGV" in crashed.message
    hung = judged_apart(with_pass(sample, never_end), Limits(seconds=0.3))
    assert (hung.status, hung.tier) == ("hang", "lower")


def test_a_sample_that_crashes_becomes_small_too() -> None:
    sample = with_pass(drawn("programs", 1), crash)
    small = make_small(sample, judged_apart(sample), judged_apart, seconds=3)
    assert small.passes == 1
    assert judged_apart(small.sample).status == "crash"
