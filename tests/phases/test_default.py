"""The default pipeline keeps the meaning of programs, step by step."""

import pytest

from irkit.core import IRKitError, same
from irkit.ir import LOOP_LEVEL, parse, script
from irkit.phases import DEFAULT, ORDER, lower
from irkit.phases.bounds_checks import with_bounds_checks
from irkit.transform import Phase, Pipeline
from tests.draws import sampled
from tests.passes.loop.kernels import KERNELS, kernel, results


@pytest.mark.parametrize("name", sampled(KERNELS, every=3))
def test_every_step_gives_the_same_bits_and_parses_back(name: str) -> None:
    func = kernel(name)
    expected = results(func)
    for step in DEFAULT.steps(func):
        assert same(parse(script(step.after)), step.after), step.name
        if step.changed:
            assert results(step.after) == expected, step.name


@pytest.mark.parametrize("sizes", [(0, 0, 0), (1, 1, 1), (3, 2, 0), (17, 5, 4)])
def test_symbolic_sizes_can_be_any_number_even_0(sizes: tuple[int, int, int]) -> None:
    func = kernel("SYMBOLIC_MATMUL")
    given = dict(zip("mnk", sizes, strict=True))
    assert results(lower(func), sizes=given) == results(func, sizes=given)


@pytest.mark.parametrize("pair", ORDER, ids=lambda pair: f"{pair.before}..{pair.after}")
def test_an_order_that_is_reversed_is_refused_with_its_reason(pair: object) -> None:
    assert hasattr(pair, "before")
    assert hasattr(pair, "after")
    phases = with_bounds_checks(DEFAULT).phases
    passes = {p.name: p for phase in phases for p in phase.passes}
    first, second = passes[pair.before], passes[pair.after]
    facts = (*first.needs, *second.needs)
    Pipeline(LOOP_LEVEL, (Phase(0, "all", (first, second)),), order=ORDER, facts=facts)
    with pytest.raises(IRKitError, match="must come after"):
        Pipeline(LOOP_LEVEL, (Phase(0, "all", (second, first)),), order=ORDER, facts=facts)
