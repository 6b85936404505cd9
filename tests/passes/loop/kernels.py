"""Functions that the passes are tested on, with arguments for them."""

from typing import Any

import numpy as np

from irkit.fuzz import KERNELS
from irkit.ir import Buffer, PrimFunc, Var, as_int, interpret, parse, shape_vars

SIZES = {"m": 5, "n": 7, "k": 3}


def kernel(name: str) -> PrimFunc:
    return parse(KERNELS[name].strip() + "\n")


def arguments(func: PrimFunc, seed: int = 0, sizes: dict[str, int] | None = None) -> list[Any]:
    """Return arrays of random numbers for all parameters, those of results too."""
    rng = np.random.default_rng(seed)
    known: dict[Var, int] = {var: (sizes or SIZES)[var.name] for var in shape_vars(func)}
    made: list[Any] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = [known[d] if isinstance(d, Var) else as_int(d) or 0 for d in param.shape]
        data = rng.uniform(-4, 4, size=shape)
        array = data.astype(np.int32 if param.dtype.is_integer else np.float32)
        if param.strides is not None:
            strides = [as_int(s) or 0 for s in param.strides]
            memory = np.zeros(sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1)
            memory = memory.astype(array.dtype)
            view = np.lib.stride_tricks.as_strided(memory, shape, [s * 4 for s in strides])
            view[...] = array
            array = view
        made.append(array)
    return made


def results(func: PrimFunc, seed: int = 0, sizes: dict[str, int] | None = None) -> list[bytes]:
    """Run with the interpreter and return the contents of all arrays afterwards."""
    arrays = arguments(func, seed, sizes)
    interpret(func, *arrays)
    return [array.tobytes() for array in arrays]
