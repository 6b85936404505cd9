"""Bounds on rounding: wide enough for every legal way to round, and no wider than needed."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from irkit.debug import input_sets, is_float
from irkit.debug.check.rounding_error.precision import Precision
from irkit.debug.execution.executors import InterpreterExecutor
from irkit.fuzz import KERNELS
from irkit.ir import PrimFunc
from tests.debug.check.rounding_cases import COARSE, LEGAL
from tests.debug.check.verdict_of_pair import judged
from tests.draws import sampled
from tests.passes.loop.kernels import kernel

Array = NDArray[Any]


@pytest.mark.parametrize("name", sampled(LEGAL, every=3))
def test_legal_rounding_is_within_the_bound(name: str) -> None:
    found = judged(LEGAL[name], declared=True)
    assert found.status == "rounds differently", str(found)


@pytest.mark.parametrize("name", LEGAL)
def test_legal_rounding_has_to_be_declared(name: str) -> None:
    assert judged(LEGAL[name]).status == "differs"


@pytest.mark.parametrize("name", COARSE)
def test_a_declaration_does_not_hide_what_is_wrong(name: str) -> None:
    found = judged(COARSE[name], declared=True)
    assert found.status == "differs", str(found)


@pytest.mark.parametrize("name", KERNELS)
def test_results_are_within_half_of_the_bound_from_the_true_value(name: str) -> None:
    func, executor = kernel(name), InterpreterExecutor()
    precision = Precision(func)
    assert precision.bounded is not None

    def run(made: PrimFunc, args: list[object]) -> list[Array] | None:
        outcome = executor.run(made, args)
        found.append(outcome.arrays)
        assert not outcome.error
        return list(outcome.arrays)

    for inputs in input_sets(func):
        own = executor.run(func, inputs.copied())
        if own.error:
            continue
        found: list[tuple[Array, ...]] = []
        limits = precision.allowed(inputs, own.arrays, run)
        values = iter(found[0])
        for array, limit in zip(own.arrays, limits, strict=True):
            value, *_ = [next(values) for _ in range(4 if is_float(array) else 1)]
            if limit is not None:
                known = np.isfinite(limit) & np.isfinite(value)
                apart = np.abs(array[known].astype(np.float64) - value[known])
                assert np.all(apart <= limit[known] / 2), name
