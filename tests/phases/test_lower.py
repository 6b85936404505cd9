"""Functions and modules through the numbered phases."""

import pytest

from irkit.core import IRKitError, IRModule, same
from irkit.ir import script
from irkit.phases import DEFAULT, lower, trace
from tests.passes.loop.kernels import kernel


def test_phases_are_numbered_and_can_be_stopped_after() -> None:
    func = kernel("MATMUL")
    flat = lower(func, stop_after=1)
    assert "view(C, f32[48], offset=0)" in script(flat)
    assert "block" in script(lower(func, stop_after=0))
    assert lower(func, stop_after=0) is func
    with pytest.raises(IRKitError, match=r"no phase 4; the phases are: 0 raw, 1 flat, 2 loops"):
        lower(func, stop_after=4)


def test_a_module_gives_a_module() -> None:
    module = IRModule({"f": kernel("MATMUL"), "g": kernel("CARRIED")})
    lowered = lower(module)
    assert isinstance(lowered, IRModule)
    assert list(lowered) == ["f", "g"]
    assert same(lowered["f"], lower(kernel("MATMUL")))


def test_a_trace_holds_every_step() -> None:
    kept = trace(kernel("MATMUL"))
    assert [(step.phase, step.name) for step in kept] == [
        (phase.number, p.name) for phase in DEFAULT.phases for p in phase.passes
    ]
