"""Verification at the end names the same pass as verification after each one."""

import msgspec
import pytest

from irkit import te
from irkit.core import Level, Problem, walk
from irkit.ir import Const, For, PrimFunc, Store
from irkit.phases import DEFAULT, build, lower
from irkit.transform import (
    PassFailed,
    Phase,
    Pipeline,
    VerificationFailed,
    define_pass,
    verified_last,
)
from irkit.transform.define import AnyPass
from tests.transform.loops import LOOP, function, no_parallel, no_unrolled, with_end, with_kind

CALLS: list[str] = []


@define_pass(gives=(no_unrolled,))
def make_parallel(func: PrimFunc) -> PrimFunc:
    return with_kind(func, "parallel")


@define_pass(gives=(no_parallel,))
def make_serial(func: PrimFunc) -> PrimFunc:
    CALLS.append("make_serial")
    return with_kind(func, "serial")


@define_pass
def negate(func: PrimFunc) -> PrimFunc:
    return with_end(func, -1)


@define_pass
def unroll_again(func: PrimFunc) -> PrimFunc:
    return with_kind(func, "unrolled")


@define_pass
def need_end(func: PrimFunc) -> PrimFunc:
    """Raise where a loop ends below 0, which no pass must meet."""
    assert isinstance(func.body, For)
    assert isinstance(func.body.end, Const)
    if func.body.end.value < 0:
        raise IndexError("below 0")
    return func


def pipeline(*passes: AnyPass) -> Pipeline:
    return Pipeline(LOOP, (Phase(1, "loops", passes),))


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the passes of this file for irkit's."""
    monkeypatch.setattr(verified_last, "_is_foreign", lambda _: False)


@pytest.mark.usefixtures("own")
def test_a_run_without_mistakes_is_verified_at_both_ends_only() -> None:
    verified: list[str] = []

    def verify(func: PrimFunc) -> list[Problem]:
        verified.append(func.name)
        return LOOP.verify(func)

    level: Level = msgspec.structs.replace(LOOP, verify=verify)
    passes = msgspec.structs.replace(pipeline(make_parallel, make_serial, need_end), level=level)
    made = verified_last.run_verified_last(passes, function())
    assert made is not None
    assert verified == ["f", "f"]
    passes.run(function())
    assert len(verified) == 5  # Of the three passes, need_end changes nothing.


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("passes", "name"),
    [
        ((make_parallel, negate, make_serial), "negate"),  # Invalid to the end.
        ((negate, need_end, make_serial), "negate"),  # Another pass fails on what it made.
        ((make_parallel, unroll_again, need_end), "unroll-again"),  # A fact is not true any more.
    ],
)
def test_the_pass_at_fault_is_named(passes: tuple[AnyPass, ...], name: str) -> None:
    with pytest.raises(PassFailed) as each:
        pipeline(*passes).run(function())
    with pytest.raises(PassFailed) as last:
        verified_last.run_verified_last(pipeline(*passes), function())
    assert last.value.name == each.value.name == name
    assert str(last.value) == str(each.value)


def test_passes_from_elsewhere_are_verified_at_once() -> None:
    CALLS.clear()
    with pytest.raises(PassFailed) as caught:
        verified_last.run_verified_last(pipeline(negate, make_serial), function())
    assert caught.value.name == "negate"
    assert not CALLS


def test_invalid_ir_that_is_given_is_no_pass_at_fault() -> None:
    with pytest.raises(VerificationFailed) as caught:
        verified_last.run_verified_last(pipeline(make_serial), with_end(function(), -1))
    assert not isinstance(caught.value, PassFailed)


def test_a_build_names_a_pass_of_irkits_that_breaks_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = next(p for _, p in DEFAULT.placed if p.name == "vectorize-loops")

    @define_pass(needs=at.needs, gives=at.gives)
    def lose_loops(func: PrimFunc) -> PrimFunc:
        return func.replace(body=next(iter(walk(func, on=Store))))

    planted = DEFAULT.replace(at.name, lose_loops)
    monkeypatch.setattr(verified_last, "_is_foreign", lambda _: False)
    a = te.placeholder((64,), name="a")
    func = te.create_prim_func([a, te.compute((64,), lambda i: a[i] + 1.0, name="b")])
    for run in (lower, build):
        with pytest.raises(PassFailed) as caught:
            run(func, pipeline=planted)
        assert caught.value.name == "lose-loops"
