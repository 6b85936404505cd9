"""Compare the results of a function, on small integers, before and after a primitive."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError, ScheduleError, any_node, free_symbols
from irkit.ir import (
    Buffer,
    Call,
    Div,
    Expr,
    PrimFunc,
    StepLimit,
    Var,
    evaluate,
    interpret,
    numpy_dtype,
    shape_vars,
)
from irkit.schedule.limits import MOST_CHECK_ELEMENTS, MOST_CHECK_STEPS

_SYMBOLIC = ((7, 12, 5, 9), (2, 0, 3, 1))
"""Sizes for the shape variables; with the second, loops over ``n - 4`` are empty."""

Reference = Callable[[Sequence[Any]], Sequence[Any]]
"""A function from the arguments to their expected contents afterwards."""


class DifferentialCheck:
    """The expected results of a function, compared with those of its scheduled versions.

    ``reference`` computes them; without one the function itself is interpreted.
    Shapes: shape variables become small numbers that are not multiples of each other, and then
    numbers up to 3, where the function can be called with them.
    Raises: IRKitError if the function is too large to be interpreted.
    """

    def __init__(self, func: PrimFunc, reference: Reference | None = None) -> None:
        self.runs: list[tuple[list[Any], Sequence[Any]]] = []
        # Sums and products of small integers are exact, so their order does not matter.
        self.exact = not any_node(func, (Call, Div))
        for sizes in _SYMBOLIC if shape_vars(func) else _SYMBOLIC[:1]:
            try:
                inputs = _inputs(func, sizes)
                given = None if self.runs else reference
                expected = _run(func, inputs) if given is None else given(_copied(inputs))
            except IRKitError:
                if not self.runs:
                    raise
                continue  # It asserts more, or has negative dimensions.
            self.runs.append((inputs, expected))
        if reference is not None:
            self.compare(func, "lowering")

    def compare(self, func: PrimFunc, primitive: str) -> None:
        """Compare results bit for bit, or with a relative tolerance of 1e-4 if rounding may differ.

        Raises: ScheduleError if anything differs.
        """
        for inputs, expected in self.runs:
            self._compare(func, primitive, _run(func, inputs), expected)

    def _compare(
        self, func: PrimFunc, primitive: str, found: Sequence[Any], expected: Sequence[Any]
    ) -> None:
        for param, mine, theirs in zip(func.params, found, expected, strict=True):
            if not isinstance(param, Buffer):
                continue
            wrong = self._wrong(np.asarray(mine), np.asarray(theirs))
            if wrong.any():
                where = tuple(int(at) for at in np.argwhere(wrong)[0])
                raise ScheduleError(
                    f"{primitive} changed the result: {param.name}{list(where)} is {mine[where]}, "
                    f"expected {theirs[where]}",
                    hint="This is a bug in the primitive, not in the schedule.",
                )

    def _wrong(self, mine: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        both_nan = (mine != mine) & (theirs != theirs)
        if self.exact or mine.dtype.kind in "iub":
            return (mine != theirs) & ~both_nan
        a, b = mine.astype(np.float64), theirs.astype(np.float64)
        with np.errstate(all="ignore"):
            near = np.abs(a - b) <= 1e-4 * np.maximum(np.abs(a), np.abs(b)) + 1e-6
        return ~((a == b) | near | both_nan)


def _run(func: PrimFunc, inputs: Sequence[Any]) -> list[Any]:
    args = _copied(inputs)
    try:
        interpret(func, *args, max_steps=MOST_CHECK_STEPS)
    except StepLimit:
        raise IRKitError(
            f"{func.name} takes too long to interpret after every primitive",
            hint="Use smaller shapes, or schedule without check='each'.",
        ) from None
    return args


def _copied(inputs: Sequence[Any]) -> list[Any]:
    return [copy(arg) for arg in inputs]


def _inputs(func: PrimFunc, numbers: Sequence[int]) -> list[Any]:
    rng = np.random.default_rng(0)
    sizes: dict[Var, int] = {
        var: numbers[at % len(numbers)] for at, var in enumerate(shape_vars(func))
    }
    made: list[Any] = []
    for param in func.params:
        if isinstance(param, Buffer):
            shape = tuple(_number(dim, sizes) for dim in param.shape)
            if np.prod(shape, dtype=np.float64) > MOST_CHECK_ELEMENTS:
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
