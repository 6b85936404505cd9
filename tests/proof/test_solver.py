"""z3's objects are freed by the thread that works with them."""

import gc

import pytest

pytest.importorskip("z3")

from irkit.ir import I32, Var, parse
from irkit.proof import Proved, check_bounds, check_races, prove_equal, solver
from irkit.proof.solver import paused_collector

COPY = """\
def copy(x: f32[64], y: f32[64]):
    for i in parallel(0, 8):
        for j in serial(0, 8):
            y[i % 4 * 16 + i // 4 * 8 + j] = x[i * 8 + j]
"""


def test_the_collector_is_on_again_after_the_last_proof() -> None:
    assert gc.isenabled()
    with paused_collector:
        with pytest.raises(ValueError, match="inner"), paused_collector:
            raise ValueError("inner")
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with paused_collector:
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_no_thread_collects_what_z3_works_with(monkeypatch: pytest.MonkeyPatch) -> None:
    z3 = solver.z3_module()
    seen: list[bool] = []
    check = z3.Solver.check

    def watched(self: object, *assumptions: object) -> object:
        seen.append(gc.isenabled())
        return check(self, *assumptions)

    monkeypatch.setattr(z3.Solver, "check", watched)
    func = parse(COPY)
    assert [each.status for each in check_races(func)] == ["independent"]
    assert {each.status for each in check_bounds(func)} == {"in bounds"}
    x = Var("x", I32)
    assert isinstance(prove_equal((x // 2) * 2 + x % 2, x, {}), Proved)
    assert seen
    assert not any(seen)
