"""Invariants of checked bounds find checks that are missing, and checks that stop everything."""

import pytest

from irkit.fuzz.judge import checked_bounds, judge
from irkit.ir import BOOL, Assert, Const, PrimFunc, seq
from irkit.phases import DEFAULT
from irkit.transform import AnyPass, define_pass
from tests.fuzz.judge.samples import sample_of


@define_pass(idempotent=True)
def check_nothing(func: PrimFunc) -> PrimFunc:
    """Accept everything."""
    return func


@define_pass()
def stop_everything(func: PrimFunc) -> PrimFunc:
    """Stop at once."""
    never = Assert(Const(False, BOOL), "stopped")
    return func.replace(body=seq(never, func.body))


@pytest.mark.parametrize("p", [check_nothing, stop_everything], ids=str)
def test_checks_of_bounds_must_stop_what_is_outside_and_nothing_else(
    p: AnyPass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked_bounds, "instrument_bounds", p)
    names = ["bounds are checked"]
    found = [judge(sample_of(DEFAULT), native=False, invariants=names, number=n) for n in range(8)]
    wrong = [each for each in found if each.is_finding]
    assert wrong
    assert {each.named for each in wrong} == {p.name}
