"""Samples are the same for the same choices, and what NumPy expects is what is interpreted."""

import numpy as np
import pytest

from irkit import te
from irkit.core import rewrite
from irkit.debug.compare import compare
from irkit.fuzz.generators import Sample
from irkit.fuzz.generators.bounded import evaluate_bounded
from irkit.fuzz.generators.functions import draw_functions
from irkit.fuzz.generators.programs import draw_stages
from irkit.fuzz.picks import picks_of
from irkit.fuzz.sample import draw_sample
from irkit.fuzz.stages import FRACTIONS, INTEGERS, SPECIAL, WHOLE, Theme
from irkit.ir import Add, Call, Expr, PrimFunc, Sub, interpret, script, verify

COUNT = 120


def _wrong(sample: Sample, func: PrimFunc) -> str:
    """Interpret a function on the arguments of a sample, and say what is not as expected."""
    for inputs, expected, allowed in zip(
        sample.inputs, sample.expected, sample.allowed, strict=True
    ):
        args = inputs.copied()
        interpret(func, *args)
        for place, wanted, limit in zip(sample.outputs, expected or (), allowed, strict=False):
            signs = sample.zeros_have_signs
            apart = compare(wanted, args[place], limit, zeros_have_signs=signs)
            if apart.at is not None:
                return f"{func.params[place].name}: {apart}\n{script(func)}"
    return ""


@pytest.mark.parametrize(
    "theme", [WHOLE, INTEGERS, FRACTIONS, SPECIAL], ids=lambda each: each.numbers
)
def test_what_numpy_expects_of_a_program_is_what_is_interpreted(theme: Theme) -> None:
    for number in range(COUNT):
        sample = draw_stages(picks_of(number), theme)
        assert isinstance(sample.ir, PrimFunc)
        assert _wrong(sample, sample.ir) == "", number


def test_a_sum_that_became_a_difference_is_found() -> None:
    def wrong(node: Add) -> Expr | None:
        return Sub(node.a, node.b, node.dtype) if node.dtype.is_float else None

    changed = found = 0
    for number in range(COUNT):
        sample = draw_stages(picks_of(number), FRACTIONS)
        assert isinstance(sample.ir, PrimFunc)
        func = rewrite(sample.ir, wrong, on=Add)
        changed += func is not sample.ir
        found += bool(_wrong(sample, func))
    assert changed > COUNT // 4
    assert found > 0.7 * changed  # Some add up nothing, or what a later stage leaves aside.


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


def test_programs_and_loops_are_valid() -> None:
    for number in range(COUNT):
        sample = draw_sample("programs", picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        assert verify(sample.ir) == []
        assert _wrong(sample, sample.ir) == "", number


def test_a_number_draws_the_same_sample_twice() -> None:
    first, again = (draw_sample("programs", picks_of(7)) for _ in range(2))
    assert isinstance(first.ir, PrimFunc)
    assert isinstance(again.ir, PrimFunc)
    assert script(first.ir) == script(again.ir)
    assert first.features == again.features


def test_a_bound_is_not_wider_than_it_need_be() -> None:
    """A sum of 64 numbers may be off by 16 units of the sum of their magnitudes."""
    a = te.placeholder((64,), "f32", name="A")
    k = te.reduce_axis((0, 64), name="k")
    total = te.compute((), lambda: te.sum(a[k], axis=k))
    assert isinstance(total, te.Tensor)
    values = np.linspace(-1.0, 1.0, 64).astype(np.float32)
    [(value, error)] = evaluate_bounded([total], {a: values}, {})
    assert error is not None
    assert abs(float(value)) <= float(error)
    assert 8 < float(error) / (2.0**-24 * float(np.abs(values).sum())) < 20


def test_integers_of_64_bits_are_shifted_as_integers() -> None:
    a = te.placeholder((2,), "u64", name="A")
    shifted = te.compute((2,), lambda i: te.const(2**64 - 3, "u64") >> a[i])
    assert isinstance(shifted, te.Tensor)
    [found] = te.evaluate([shifted], {a: np.array([8, 70], np.uint64)})
    assert found.tolist() == [2**56 - 1, 0]
