"""A kernel of the benchmark: its operands, and how it is computed in three ways."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from irkit import te
from irkit.ir import Expr, PrimFunc, Var, as_int
from irkit.te import Tensor

Shape = tuple[int, ...]
Term = (
    Callable[[Var, Var], Expr]
    | Callable[[Var, Var, Var], Expr]
    | Callable[[Var, Var, Var, Var], Expr]
)
NUMPY_TYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}


class Kernel(msgspec.Struct, frozen=True):
    """A tensor expression, the same in NumPy, and the same as loops that numba compiles.

    ``inputs`` names operands with their shapes. ``expression`` and ``with_numpy`` take the inputs
    and return the results; ``loops`` takes the inputs and then arrays for the results.
    """

    name: str
    inputs: Mapping[str, Shape]
    expression: Callable[..., tuple[Tensor, ...]]
    with_numpy: Callable[..., tuple[Any, ...]]
    loops: Callable[..., None]

    def function(self, dtype: str) -> tuple[PrimFunc, list[Shape]]:
        """Make the unscheduled function; return it with the shapes of its results."""
        places = [te.placeholder(s, dtype=dtype, name=n) for n, s in self.inputs.items()]
        results = self.expression(*places)
        shapes = [sizes(each) for each in results]
        return te.create_prim_func([*places, *results]), shapes


def near(rng: np.random.Generator, size: int) -> int:
    """Draw a size within a quarter of one, so that few are round."""
    return max(2, int(size * rng.uniform(0.75, 1.25)))


def alike(names: Iterable[str], shape: Shape) -> dict[str, Shape]:
    return dict.fromkeys(names, shape)


def sizes(of: Tensor) -> Shape:
    return tuple(as_int(size) or 0 for size in of.shape)


def dot(shape: Shape, extent: int, term: Term, name: str) -> Tensor:
    """Sum a term of the axes of a result, and of one more."""
    k = te.reduce_axis((0, extent), name=f"{name}_k")

    def cell(*at: Var) -> Expr:
        of: Callable[..., Expr] = term
        return te.sum(of(*at, k), axis=k)

    return te.compute(shape, cell, name=name)
