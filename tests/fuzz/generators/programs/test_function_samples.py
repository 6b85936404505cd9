"""Functions of special values are within their tolerances."""

from typing import Any

import numpy as np
import pytest

from irkit.core import rewrite
from irkit.fuzz.generators.programs.function_samples import draw_functions
from irkit.fuzz.picks import picks_of
from irkit.ir import Call, DType, Expr, PrimFunc, numpy_dtype, script
from irkit.ir.interp import values
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


def test_a_conversion_to_16_bits_that_rounds_once_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounded_once(value: Any, dtype: DType) -> Any:
        with np.errstate(all="ignore"):
            return value.astype(numpy_dtype(dtype))

    monkeypatch.setattr(values, "narrow", rounded_once)
    found = 0
    for number in range(COUNT // 2):
        sample = draw_functions(picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        found += bool(difference(sample, sample.ir))
    assert found > 2
