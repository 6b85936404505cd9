"""Functions that apply one operation to arrays of special values, natively and interpreted."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.core import Target
from irkit.ir import (
    I64,
    Buffer,
    Const,
    DType,
    Expr,
    For,
    PrimFunc,
    Store,
    Var,
    interpret,
    numpy_dtype,
    ramp,
)
from irkit.runtime import compile_functions

QUICK = Target(opt_level=1)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 7.25, -7.25, 1e-3, 250.0, 65504.0, 1e-7,
          300.5, 3e38, -3e38, float("inf"), float("-inf"), float("nan"))  # fmt: skip


def special(dtype: DType) -> Any:
    """Return values of a type at which operations tend to go wrong."""
    kind = numpy_dtype(dtype)
    if dtype.is_bool:
        return np.array([False, True, True, False], kind)
    if dtype.is_float:
        with np.errstate(over="ignore"):
            return np.array(FLOATS, np.float64).astype(np.float32).astype(kind)
    ends = [dtype.low, dtype.low + 1, dtype.high - 1, dtype.high]
    return np.array([n for n in (*ends, -7, -2, -1, 0, 1, 2, 3, 7, 8, 31, 63, 64, 100)
                     if dtype.low <= n <= dtype.high], kind)  # fmt: skip


def crossed(values: Any, arity: int, lanes: int = 1) -> list[Any]:
    """Combine values in all ways, one array for each operand, padded to whole vectors."""
    grids = [np.ascontiguousarray(g.reshape(-1)) for g in np.meshgrid(*[values] * arity)]
    short = -len(grids[0]) % lanes
    return [np.concatenate([grid, grid[: short or 0]]) for grid in grids]


def elementwise(
    name: str,
    sources: Sequence[DType],
    size: int,
    build: Callable[..., Expr],
    lanes: int = 1,
) -> PrimFunc:
    """Return the function ``out[i] = build(a[i], ...)``, a vector at a time."""
    extent = Const(size, I64)
    inputs = [Buffer(f"a{n}", (extent,), dtype) for n, dtype in enumerate(sources)]
    i = Var("i")
    at: Expr = i if lanes == 1 else ramp(i * lanes, 1, lanes)
    value = build(*(buffer[at] for buffer in inputs))
    out = Buffer("out", (extent,), value.dtype.element)
    body = Store(out, (at,), value)
    loop = For(i, Const(0, I64), Const(size // lanes, I64), body)
    return PrimFunc(name, (*inputs, out), loop)


def both(func: PrimFunc, inputs: Sequence[Any], native: Callable[..., None]) -> tuple[Any, Any]:
    """Return the results of a function run natively and interpreted."""
    out = func.params[-1]
    assert isinstance(out, Buffer)
    results = []
    for run in (native, lambda *args: interpret(func, *args)):
        result = np.zeros(len(inputs[0]), numpy_dtype(out.dtype))
        run(*inputs, result)
        results.append(result)
    return results[0], results[1]


def compiled(funcs: Sequence[PrimFunc], target: Target = QUICK) -> dict[str, Any]:
    """Compile functions together; return the kernels by name."""
    return compile_functions({func.name: func for func in funcs}, target).kernels


def same_bits(a: Any, b: Any) -> Any:
    """Return True if two arrays are equal, element by element; every NaN is equal."""
    if a.dtype.kind in "biu":
        return a == b
    whole = f"u{a.itemsize}"
    return (a.view(whole) == b.view(whole)) | (np.isnan(a) & np.isnan(b))
