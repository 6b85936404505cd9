"""Code that is not irkit's, compared with the function over loops that it has to match."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.codegen import written_buffers
from irkit.core import IRKitError, Target
from irkit.debug.check.difference import compare
from irkit.debug.check.rounding_error.precision import Precision
from irkit.debug.execution.inputs import Array, InputSet, input_sets
from irkit.ir import Buffer, PrimFunc
from irkit.runtime import build_kernels

Code = Callable[..., object]
"""Takes the arguments of the function, and writes its results to them."""


def check_code(func: PrimFunc, code: Code, *, samples: int = 4, seed: int = 0) -> str | None:
    """Run code and a function over loops on the same drawn inputs; return the first difference, or
    None.

    Integers must agree, and floats within the error that rounding can make of the function in any
    order of its sums and products. Results hold NaN, or the largest integer, before each run, so
    that what is not written is found.
    """
    native, results = build_kernels([func], Target("llvm"))[0], written_buffers(func)
    precision = Precision(func)
    for inputs in input_sets(func, samples=samples, seed=seed):
        expected, found = inputs.copied(), inputs.copied()
        native(*expected)
        for param, array in zip(func.params, found, strict=True):
            if param in results:
                array[...] = np.nan if param.dtype.is_float else np.iinfo(array.dtype).max
        try:
            code(*found)
        except IRKitError as error:
            return f"{error.message}, on {inputs.name}"
        problem = _difference(func, inputs, precision, expected, found)
        if problem:
            return problem
    return None


def _difference(
    func: PrimFunc,
    inputs: InputSet,
    precision: Precision,
    expected: Sequence[Any],
    found: Sequence[Any],
) -> str | None:
    arrays = [at for at, param in enumerate(func.params) if isinstance(param, Buffer)]
    limits = precision.allowed(inputs, tuple(expected[at] for at in arrays), _run)
    for at, limit in zip(arrays, limits, strict=True):
        error = compare(expected[at], found[at], limit, zeros_have_signs=False)
        if error.at is not None:
            place = ", ".join(map(str, error.at))
            return (
                f"{func.params[at].name}[{place}] = {error.found}, expected {error.expected}, on "
                f"{inputs.name}; {error.wrong} of {found[at].size} elements are wrong"
            )
    return None


def _run(func: PrimFunc, args: list[object]) -> list[Array] | None:
    build_kernels([func], Target("llvm"))[0](*args)
    return [arg for arg in args if isinstance(arg, np.ndarray)]
