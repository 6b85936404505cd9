"""Coverage of irkit's own code: what is new in a case, and nothing of what is not irkit's."""

import sys

import pytest

from irkit.fuzz.guidance import branches as module
from irkit.fuzz.guidance.branches import Branches, MonitoredBranches, TracedBranches
from irkit.ir import I64, Var, parse, simplify

_MONITORED = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")


@pytest.fixture(params=[TracedBranches, pytest.param(MonitoredBranches, marks=_MONITORED)])
def branches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Branches:
    monkeypatch.setattr(module, "_TOOL", 3)  # Not that of a campaign in this process.
    if sys.gettrace() is not None:
        pytest.skip("something traces this process")
    return request.param()


def test_a_case_shows_branches_that_none_before_it_took(branches: Branches) -> None:
    x = Var("x", I64)
    with branches.watching():
        simplify(x + 0)
    first = set(branches.new)
    assert any(each.startswith("ir/arith/") for each in first)
    with branches.watching():
        simplify(x + 0)
    # One-time work apart, nothing is new.
    assert len(branches.new) < len(first) / 4
    with branches.watching():
        simplify((x * 6 + 3) // 3 % 5)
    assert branches.new
    assert branches.new.isdisjoint(first)
    assert branches.seen >= first | branches.new


def test_only_what_compiles_is_watched(branches: Branches) -> None:
    with branches.watching():
        [each for each in range(3) if each % 2]
        parse("def f(A: f32[4]):\n    A[0] = f32(1.0)\n")
    assert {each.split("/")[0] for each in branches.new} <= {"ir", "core"}


def test_another_tracer_is_left_in_peace() -> None:
    seen = TracedBranches()
    before = sys.gettrace()
    own = before or (lambda frame, event, arg: None)
    sys.settrace(own)
    try:
        with seen.watching():
            assert sys.gettrace() is own
            simplify(Var("x", I64) + 0)
    finally:
        sys.settrace(before)
    assert not seen.new
