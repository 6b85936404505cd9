"""Random programs do natively what the interpreter does, to the last bit."""

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from irkit.core import IRKitError, Target
from irkit.fuzz import arguments, prim_funcs
from irkit.ir import PrimFunc, interpret
from irkit.runtime import compile_functions
from tests.draws import sampled

EXAMPLES = int(os.environ.get("IRKIT_EXAMPLES", "25"))


def outcome(run: Any, args: list[Any]) -> list[Any]:
    """Run on copies of the arguments; return the arrays or the error."""
    given_ = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    try:
        with np.errstate(all="ignore"):
            run(*given_)
    except IRKitError as error:
        return [type(error)]
    return [arg for arg in given_ if isinstance(arg, np.ndarray)]


@pytest.mark.parametrize("level", sampled([0, 1, 3], every=2))
def test_a_random_program_gives_what_the_interpreter_gives(level: int) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=EXAMPLES == 25,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(prim_funcs())
    def claim(func: PrimFunc) -> None:
        kernel = compile_functions({"f": func}, Target(opt_level=level))["f"]
        for seed in (1, 2):
            args = arguments(func, seed=seed)
            native = outcome(kernel, args)
            expected = outcome(lambda *given_: interpret(func, *given_), args)
            for one, other in zip(native, expected, strict=True):
                np.testing.assert_array_equal(one, other)

    claim()
