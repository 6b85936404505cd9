"""Parameters and buffers of modules: tensors of known type whose data can be set later."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.graph import TensorExpr, tensor_type
from irkit.ir import DType, numpy_dtype

Initial = Callable[[np.random.Generator, tuple[int, ...]], NDArray[Any]]


class Parameter(TensorExpr):
    """A tensor that a module learns; ``initial`` draws its first data."""

    __slots__ = ("_data", "initial")

    def __init__(
        self, shape: tuple[int, ...], dtype: DType | str = "f32", *, initial: Initial | None = None
    ) -> None:
        super().__init__(tensor_type(shape, dtype), None, "parameter")
        self.initial = initial if initial is not None else zeros
        self._data: NDArray[Any] | None = None

    @property
    def data(self) -> NDArray[Any]:
        """The data. Raises: IRKitError if none was set or drawn."""
        if self._data is None:
            raise IRKitError(
                f"parameter {self.name!r} has no data",
                hint="Call initialize() or load_state_dict() of the module.",
            )
        return self._data

    @data.setter
    def data(self, given: ArrayLike) -> None:
        array = np.asarray(given)
        wanted = numpy_dtype(self.dtype)
        if array.shape != self.shape:
            raise ShapeError(
                f"parameter {self.name!r} has shape {list(self.shape)}, found {list(array.shape)}"
            )
        if array.dtype != wanted:
            raise DTypeError(
                f"parameter {self.name!r} is {wanted}, found {array.dtype}",
                hint="Convert it: array.astype(...).",
            )
        self._data = array

    @property
    def has_data(self) -> bool:
        return self._data is not None

    def draw(self, random: np.random.Generator) -> None:
        """Draw the first data."""
        self.data = self.initial(random, self.shape).astype(numpy_dtype(self.dtype))


class StateBuffer(Parameter):
    """A tensor that belongs to a module and is not learned, such as a running mean."""

    __slots__ = ()


def zeros(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return zeros."""
    return np.zeros(shape)


def ones(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return ones."""
    return np.ones(shape)


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[Any]:
    """Draw from the normal distribution."""
    return random.standard_normal(shape)


def uniform(inputs: int) -> Initial:
    """Return the initial values of a layer with so many inputs: uniform within their inverse
    root."""
    reach = max(inputs, 1) ** -0.5

    def draw(random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[Any]:
        return random.uniform(-reach, reach, shape)

    return draw
