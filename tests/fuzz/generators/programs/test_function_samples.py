"""Functions of special values are within their tolerances."""

from irkit.core import rewrite
from irkit.fuzz.generators.programs.function_samples import draw_functions
from irkit.fuzz.picks import picks_of
from irkit.ir import Call, Expr, PrimFunc, script
from tests.fuzz.generators.programs.interpreted import COUNT, difference


def test_functions_of_special_values_are_within_their_tolerances() -> None:
    for number in range(COUNT // 2):
        sample = draw_functions(picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        assert difference(sample, sample.ir) == "", number


def test_a_function_replaced_by_another_is_found() -> None:
    def wrong(node: Call) -> Expr:
        return node.replace(name={"exp": "exp2", "asin": "atan"}.get(node.name, node.name))

    changed = found = 0
    for number in range(COUNT):
        sample = draw_functions(picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        func = rewrite(sample.ir, wrong, on=Call)
        changed += script(func) != script(sample.ir)
        found += bool(difference(sample, func))
    assert found > COUNT // 10  # So many have exp or asin.
    assert found > 0.9 * changed  # Of 0 and of infinities both can be the same.
