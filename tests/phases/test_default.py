"""The default pipeline keeps the meaning of programs, step by step."""

import pytest

from irkit.core import IRKitError, IRModule, same
from irkit.ir import LOOP_LEVEL, parse, script
from irkit.phases import DEFAULT, ORDER, lower, trace
from irkit.phases.bounds import with_bounds_checks
from irkit.transform import Phase, Pipeline
from tests.passes.loop.kernels import KERNELS, kernel, results


@pytest.mark.parametrize("name", KERNELS)
def test_every_step_gives_the_same_bits_and_parses_back(name: str) -> None:
    func = kernel(name)
    expected = results(func)
    for step in DEFAULT.steps(func):
        assert same(parse(script(step.after)), step.after), step.name
        if step.changed:
            assert results(step.after) == expected, step.name


@pytest.mark.parametrize("sizes", [(0, 0, 0), (1, 1, 1), (3, 2, 0), (17, 5, 4)])
def test_symbolic_sizes_may_be_anything_also_nothing(sizes: tuple[int, int, int]) -> None:
    func = kernel("SYMBOLIC_MATMUL")
    given = dict(zip("mnk", sizes, strict=True))
    assert results(lower(func), sizes=given) == results(func, sizes=given)


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


@pytest.mark.parametrize("pair", ORDER, ids=lambda pair: f"{pair.before}..{pair.after}")
def test_an_order_that_is_turned_round_is_refused_with_its_reason(pair: object) -> None:
    assert hasattr(pair, "before")
    assert hasattr(pair, "after")
    phases = with_bounds_checks(DEFAULT).phases
    passes = {p.name: p for phase in phases for p in phase.passes}
    first, second = passes[pair.before], passes[pair.after]
    facts = (*first.needs, *second.needs)
    Pipeline(LOOP_LEVEL, (Phase(0, "all", (first, second)),), order=ORDER, facts=facts)
    with pytest.raises(IRKitError, match="must come after"):
        Pipeline(LOOP_LEVEL, (Phase(0, "all", (second, first)),), order=ORDER, facts=facts)
