"""Vectors of every second to fifth element are read exactly, up to the end of a buffer."""

import numpy as np
import pytest

from irkit.core import Target
from irkit.ir import parse
from irkit.runtime import compile_functions


@pytest.mark.parametrize("lanes", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("step", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["i8", "f32", "f64"])
def test_a_vector_of_every_nth_element(lanes: int, step: int, dtype: str) -> None:
    size = (lanes - 1) * step + 1
    func = parse(
        f"def f(a: {dtype}[{size}], b: {dtype}[{lanes}]):\n"
        f"    b[ramp(0, 1, {lanes})] = a[ramp(0, {step}, {lanes})]\n"
    )
    kind = dtype.replace("i", "int").replace("f", "float")
    given, found = np.arange(size).astype(kind), np.zeros(lanes, kind)
    compile_functions({"f": func}, Target(opt_level=1))["f"](given, found)
    np.testing.assert_array_equal(found, given[::step])
