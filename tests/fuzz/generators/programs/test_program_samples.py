"""Random programs: the same for the same choices, and NumPy's results are those of the
interpreter."""

from collections.abc import Hashable

import numpy as np
import pytest

from irkit import te
from irkit.core import rewrite
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.programs.program_samples import draw_stages, draw_values
from irkit.fuzz.generators.stages.theme import FRACTIONS, INTEGERS, SPECIAL, WHOLE, Theme
from irkit.fuzz.picks import picks_of
from irkit.ir import Add, Const, Expr, PrimFunc, Sub, script, verify
from irkit.ir.analysis import ValueNumbering
from irkit.passes.loop import eliminate_common_subexpressions, lower_blocks
from tests.fuzz.generators.programs.interpreted import COUNT, difference


@pytest.mark.parametrize(
    "theme", [WHOLE, INTEGERS, FRACTIONS, SPECIAL], ids=lambda each: each.numbers
)
def test_numpy_and_the_interpreter_agree_on_programs(theme: Theme) -> None:
    for number in range(COUNT):
        sample = draw_stages(picks_of(number), theme)
        assert isinstance(sample.ir, PrimFunc)
        assert difference(sample, sample.ir) == "", number


def test_a_sum_that_became_a_difference_is_found() -> None:
    def wrong(node: Add) -> Expr | None:
        return Sub(node.a, node.b, node.dtype) if node.dtype.is_float else None

    changed = found = 0
    for number in range(COUNT):
        sample = draw_stages(picks_of(number), FRACTIONS)
        assert isinstance(sample.ir, PrimFunc)
        func = rewrite(sample.ir, wrong, on=Add)
        changed += func is not sample.ir
        found += bool(difference(sample, func))
    assert changed > COUNT // 4
    assert found > 0.7 * changed  # Some add up nothing, or something that a later stage ignores.


def test_programs_and_loops_are_valid() -> None:
    for number in range(COUNT):
        sample = draw_sample("programs", picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        assert verify(sample.ir) == []
        assert difference(sample, sample.ir) == "", number


def test_a_number_draws_the_same_sample_twice() -> None:
    first, again = (draw_sample("programs", picks_of(7)) for _ in range(2))
    assert isinstance(first.ir, PrimFunc)
    assert isinstance(again.ir, PrimFunc)
    assert script(first.ir) == script(again.ir)
    assert first.features == again.features


def test_integers_of_64_bits_are_shifted_as_integers() -> None:
    a = te.placeholder((2,), "u64", name="A")
    shifted = te.compute((2,), lambda i: te.const(2**64 - 3, "u64") >> a[i])
    assert isinstance(shifted, te.Tensor)
    [found] = te.evaluate([shifted], {a: np.array([8, 70], np.uint64)})
    assert found.tolist() == [2**56 - 1, 0]


def test_common_subexpressions_that_merge_zeros_of_both_signs_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def by_value(numbering: ValueNumbering, node: Expr) -> Hashable:
        return (node.value, node.dtype) if isinstance(node, Const) else right(numbering, node)

    right = ValueNumbering._key  # pyright: ignore[reportPrivateUsage] -- plants a bug
    monkeypatch.setattr(ValueNumbering, "_key", by_value)
    found = 0
    for number in range(COUNT):
        sample = draw_values(picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        func = eliminate_common_subexpressions(lower_blocks(sample.ir))
        found += bool(difference(sample, func))
    assert found > 2
