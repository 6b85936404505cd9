"""Functions over threads, run by the interpreter and natively."""

from typing import Any

import numpy as np

from irkit.ir import Buffer, PrimFunc, as_int, interpret, parse, script
from irkit.passes.loop import thread_sync
from irkit.phases import build


def small_integers(func: PrimFunc, seed: int = 0, **dims: int) -> list[Any]:
    """Return arrays on which sums and products in any order are exact."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        known = [as_int(dim) for dim in param.shape]
        names = [getattr(dim, "name", "") for dim in param.shape]
        shape = [dims[x] if n is None else n for n, x in zip(known, names, strict=True)]
        kind = np.int32 if param.dtype.is_integer else np.float32
        made.append(rng.integers(-4, 5, shape).astype(kind))
    return made


def interpreted(func: PrimFunc, arrays: list[Any]) -> list[Any]:
    own = [array.copy() for array in arrays]
    interpret(func, *own)
    return own


def native(func: PrimFunc, arrays: list[Any]) -> list[Any]:
    own = [array.copy() for array in arrays]
    build(func)(*own)
    return own


def same_bits(a: list[Any], b: list[Any]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def func_of(text: str) -> PrimFunc:
    return parse(text.strip() + "\n")


def barriers(text: str) -> int:
    return script(thread_sync(func_of(text))).count("barrier()")
