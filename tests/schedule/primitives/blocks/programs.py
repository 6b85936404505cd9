"""A tiled matrix product, and how to run a function of any types."""

from typing import Any

import numpy as np

from irkit.ir import Buffer, PrimFunc, as_int, interpret, numpy_dtype
from irkit.schedule import Schedule
from tests.schedule.kernels import matmul


def tiled(m: int, n: int, k: int, width: int = 4, check: str = "each") -> tuple[Schedule, Any]:
    """Tile a matrix product; return the schedule and the outermost loop of a tile."""
    sch = Schedule(matmul(m, n, k), check=check)  # pyright: ignore[reportArgumentType] -- one of its words
    i, j, r = sch.get_loops(sch.get_block("C"))
    io, ii = sch.split(i, [None, 4])
    jo, ji = sch.split(j, [None, width])
    ro, ri = sch.split(r, [None, 4])
    sch.reorder(io, jo, ro, ii, ji, ri)
    return sch, ii


def run(func: PrimFunc, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    arrays: list[Any] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = tuple(as_int(dim) or 0 for dim in param.shape)
        low = 0 if param.dtype.kind == "u" else -4
        arrays.append(rng.integers(low, 5, shape).astype(numpy_dtype(param.dtype)))
    interpret(func, *arrays)
    return arrays
