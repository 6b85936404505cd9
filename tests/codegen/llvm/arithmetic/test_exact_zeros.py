"""Without contraction, zeros of min and max are those of the interpreter, as on every target."""

from typing import Any

import numpy as np
import pytest

from irkit.core import Target
from irkit.debug import identical
from irkit.ir import dtype, interpret, numpy_dtype, parse
from irkit.runtime import compile_functions

TEXT = """
@attrs(contract=False)
def f(A: {kind}[64], B: {kind}[64], C: {kind}[64], D: {kind}[64]):
    for i in serial(0, {count}):
        C[{at}] = min(A[{at}], B[{at}])
        D[{at}] = max(A[{at}], B[{at}])
"""


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("lanes", [1, 4])
def test_of_two_zeros_the_second_is_taken(kind: str, lanes: int) -> None:
    at = "i" if lanes == 1 else f"ramp(i * {lanes}, 1, {lanes})"
    func = parse(TEXT.format(kind=kind, at=at, count=64 // lanes))
    values = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3])
    a, b = (x.reshape(-1).astype(numpy_dtype(dtype(kind))) for x in np.meshgrid(values, values))
    made = list[tuple[Any, Any]]()
    for run in (
        lambda *args: interpret(func, *args),
        compile_functions({"f": func}, Target())["f"],
    ):
        c, d = np.zeros_like(a), np.zeros_like(a)
        run(a, b, c, d)
        made.append((c, d))
    assert all(identical(one, two) for one, two in zip(*made, strict=True))
