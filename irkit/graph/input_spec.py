"""An input of a model as the model declares it, with the dimensions that it leaves open."""

from collections.abc import Sequence
from typing import Union

import msgspec


class InputSpec(msgspec.Struct, frozen=True):
    """An input of a model; a dimension that the model leaves open is a name, or "" without one.

    ``dims`` is None if the model says nothing about the shape.
    """

    name: str
    dtype: str
    dims: "tuple[Union[int, str], ...] | None"

    @property
    def is_open(self) -> bool:
        """Return True if the model does not say the whole shape."""
        return self.dims is None or any(isinstance(dim, str) for dim in self.dims)

    def __str__(self) -> str:
        """Return the name, type and shape in text."""
        dims = "..." if self.dims is None else ", ".join(str(dim) or "?" for dim in self.dims)
        return f"{self.name}: {self.dtype}[{dims}]"

    def admits(self, shape: Sequence[int]) -> bool:
        """Return True if the model allows a shape."""
        return self.dims is None or (
            len(shape) == len(self.dims)
            and all(
                isinstance(dim, str) or dim == size
                for dim, size in zip(self.dims, shape, strict=True)
            )
        )
