"""Samples are the same for the same choices, and what NumPy expects is what is interpreted."""

from irkit.core import rewrite
from irkit.fuzz.generators.programs.function_samples import draw_functions
from irkit.fuzz.picks import picks_of
from irkit.ir import Call, Expr, PrimFunc, script
from tests.fuzz.generators.programs.sample_programs import COUNT, _wrong


def test_functions_of_special_values_are_as_near_as_they_say() -> None:
    for number in range(COUNT // 2):
        sample = draw_functions(picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        assert _wrong(sample, sample.ir) == "", number


def test_a_function_that_is_another_is_found() -> None:
    def wrong(node: Call) -> Expr:
        return node.replace(name={"exp": "exp2", "asin": "atan"}.get(node.name, node.name))

    changed = found = 0
    for number in range(COUNT):
        sample = draw_functions(picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        func = rewrite(sample.ir, wrong, on=Call)
        changed += script(func) != script(sample.ir)
        found += bool(_wrong(sample, func))
    assert found > COUNT // 8
    assert found > 0.9 * changed  # Of 0 and of what is infinite both may be the same.
