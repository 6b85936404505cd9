"""What a model was compiled for: the shapes that the model leaves open, and the inputs that decide
a shape."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from numpy.typing import NDArray

from irkit.core import DTypeError, InputError, ShapeError
from irkit.graph import InputSpec
from irkit.ir import array_type
from irkit.runtime.model_arrays import given_array

SHOWN = 8
"""Elements of a value that messages show."""


class Specialisation(msgspec.Struct, frozen=True, eq=False):
    """The shapes of inputs, and the values of those that decide a shape, of one compilation."""

    shapes: Mapping[str, tuple[int, ...]]
    values: Mapping[str, NDArray[Any]]

    def fits(self, feeds: Mapping[str, NDArray[Any]]) -> bool:
        """Return True if the code is right for these inputs."""
        return all(feeds[name].shape == shape for name, shape in self.shapes.items()) and all(
            _same(feeds[name], value) for name, value in self.values.items()
        )

    def __str__(self) -> str:
        shapes = [f"{name}: {_sizes(shape)}" for name, shape in self.shapes.items()]
        values = [f"{name} = {_shown(value)}" for name, value in self.values.items()]
        return "; ".join([*shapes, *values])


def _sizes(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _same(found: NDArray[Any], wanted: NDArray[Any]) -> bool:
    # Bits, because a value of NaN or -0.0 is also a value.
    return found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def _shown(value: NDArray[Any]) -> str:
    if value.size > SHOWN:
        return f"{value.dtype}{_sizes(value.shape)}"
    return str(value.tolist())


def checked_inputs(
    inputs: Sequence[InputSpec], given: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    """Return the inputs as arrays of the names, types and ranks that a model wants.

    Raises: InputError, DTypeError or ShapeError.
    """
    names = [each.name for each in inputs]
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DTypeError(
            f"inputs must map names to arrays, found {type(given).__name__}; "
            f"the names are: {', '.join(names) or 'none'}"
        )
    problems = [f"input {name!r} is missing" for name in names if name not in given][:1]
    problems += [f"{name!r} is not an input" for name in given if name not in names][:1]
    if problems:
        listed = ", ".join(names) or "none"
        raise InputError(f"{' and '.join(problems)}; the inputs are: {listed}")
    sizes: dict[str, tuple[int, str]] = {}
    return {each.name: _checked(each, given[each.name], sizes) for each in inputs}


def _checked(wanted: InputSpec, given: Any, sizes: dict[str, tuple[int, str]]) -> NDArray[Any]:
    name, dtype = wanted.name, array_type(wanted.dtype)
    array = given_array(given, f"input {name!r}")
    if array.dtype != dtype:
        raise DTypeError(f"input {name!r} must be of type {dtype}, found {array.dtype}")
    if not wanted.admits(array.shape):
        raise ShapeError(f"input {name!r} must be {wanted}, found shape {_sizes(array.shape)}")
    for dim, size in zip(wanted.dims or (), array.shape, strict=False):
        if isinstance(dim, str) and dim:
            first, where = sizes.setdefault(dim, (size, name))
            if first != size:
                raise ShapeError(
                    f"input {name!r} has size {size} where the model says {dim!r}, but "
                    f"{dim!r} is {first} in input {where!r}"
                )
    return array
