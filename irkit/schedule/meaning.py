"""What a function computes on small whole numbers: what a schedule must not change."""

from copy import copy
from typing import Any

import numpy as np

from irkit.core import IRKitError, ScheduleError, free_symbols
from irkit.ir import (
    Buffer,
    Expr,
    PrimFunc,
    StepLimit,
    Var,
    evaluate,
    interpret,
    numpy_dtype,
    shape_vars,
)

_MOST_STEPS = 20_000_000
_MOST_ELEMENTS = 1 << 24
_SYMBOLIC = (7, 12, 5, 9)


class Meaning:
    """The results of a function, to compare with those of the same function scheduled.

    Shapes: shape variables become small numbers that are no multiples of each other.
    Raises: IRKitError if the function is too large to be interpreted.
    """

    def __init__(self, func: PrimFunc, seed: int = 0) -> None:
        self.inputs = _inputs(func, seed)
        self.expected = self._run(func)

    def compare(self, func: PrimFunc, primitive: str) -> None:
        """Compare, bit for bit.

        Raises: ScheduleError if anything differs.
        """
        found = self._run(func)
        for param, mine, theirs in zip(func.params, found, self.expected, strict=True):
            if isinstance(param, Buffer) and not np.array_equal(mine, theirs, equal_nan=True):
                where = tuple(int(at) for at in np.argwhere(mine != theirs)[0])
                raise ScheduleError(
                    f"{primitive} changed the meaning: {param.name}{list(where)} is {mine[where]}, "
                    f"and was {theirs[where]}",
                    hint="This is a bug of the primitive, not of the schedule.",
                )

    def _run(self, func: PrimFunc) -> list[Any]:
        args: list[Any] = [copy(arg) for arg in self.inputs]
        try:
            interpret(func, *args, max_steps=_MOST_STEPS)
        except StepLimit:
            raise IRKitError(
                f"{func.name} takes too long to interpret after every primitive",
                hint="Schedule it with smaller shapes, or without check='each'.",
            ) from None
        return args


def _inputs(func: PrimFunc, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    sizes: dict[Var, int] = {
        var: _SYMBOLIC[at % len(_SYMBOLIC)] for at, var in enumerate(shape_vars(func))
    }
    made: list[Any] = []
    for param in func.params:
        if isinstance(param, Buffer):
            shape = tuple(_number(dim, sizes) for dim in param.shape)
            if np.prod(shape, dtype=np.float64) > _MOST_ELEMENTS:
                raise IRKitError(f"{param.name} is too large to check after every primitive")
            low = 0 if param.dtype.kind in ("u", "bool") else -4
            high = 2 if param.dtype.kind == "bool" else 5
            made.append(rng.integers(low, high, shape).astype(numpy_dtype(param.dtype)))
        else:
            made.append(numpy_dtype(param.dtype).type(3))
    return made


def _number(dim: Expr, sizes: dict[Var, int]) -> int:
    used = {var: sizes[var] for var in free_symbols(dim) if isinstance(var, Var)}
    return int(evaluate(dim, used))
