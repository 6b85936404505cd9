"""Arguments for another process, with the strides of arrays, which pickling drops."""

from typing import Any

import msgspec
import numpy as np


class WithStrides(msgspec.Struct):
    """An argument of a kernel; ``strides`` are None for a number."""

    arg: Any
    strides: tuple[int, ...] | None

    @classmethod
    def of(cls, arg: Any) -> "WithStrides":
        """Wrap an argument."""
        return cls(arg, arg.strides if isinstance(arg, np.ndarray) else None)

    def value(self) -> Any:
        """Return the argument, an array with the strides that it had."""
        given, strides = self.arg, self.strides
        if strides is None or given.strides == strides or not given.size or min(strides) < 0:
            return given
        size = sum((n - 1) * step for n, step in zip(given.shape, strides, strict=True))
        room = np.zeros(size + given.itemsize, np.uint8)
        made = np.ndarray(given.shape, given.dtype, room.data, 0, strides)
        made[...] = given
        return made
