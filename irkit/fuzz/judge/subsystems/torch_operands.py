"""The tensors of a program of PyTorch, and the inputs that its operators need."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import msgspec
import numpy as np

from irkit.fuzz.picks import Picks

_SHAPES = (
    *((3, 4), (2, 3), (4,), (), (2, 3, 4), (1, 3), (5,), (1, 2, 3, 4), (2, 1, 3), (3, 1), (1,)),
    *((3, 3), (0, 3), (2, 0), (2, 2, 5, 4), (7,), (17,), (1, 1)),
)
DTYPES = ("float32", "float32", "float32", "float64", "int64", "int32", "bool", "uint8", "int16")
_FLOATS = ("float32", "float32", "float64")


class TorchPlace(msgspec.Struct, frozen=True):
    """A tensor of the program, by its position."""

    at: int


@cache
def torch() -> Any:
    """Return PyTorch, with one thread: a process forks after it is loaded."""
    found = import_module("torch")
    found.set_num_threads(1)
    return found


class TorchOperands:
    """Values of a program: ``values`` are PyTorch's tensors, of which those at ``exact`` are not
    rounded.

    Operands of an operator are ``several`` numbers, if no two of an input may be equal, and
    ``positive``, if none may be below 0.
    """

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.values: list[Any] = []
        self.exact: set[int] = set()
        self.several = self.positive = False

    @property
    def rank(self) -> int:
        """Return the rank of the last value."""
        return self.values[-1].dim() if self.values else 2

    @property
    def shape(self) -> tuple[int, ...]:
        """Pick the shape of the last value, or another one."""
        if self.values and self.picks.below(3):
            return tuple(self.values[-1].shape)
        return self.picks.pick(_SHAPES)

    def any_tensor(self) -> TorchPlace:
        """Pick a value that is known, or make an input."""
        known = sorted(self.exact)
        if known and self.picks.below(2) and not (self.several or self.positive):
            return TorchPlace(self.picks.pick(known))
        return self.tensor(self.shape, self.picks.pick(DTYPES))

    def tensor(
        self, shape: Sequence[int], dtype: str, *, low: int = -3, high: int = 5
    ) -> TorchPlace:
        """Make an input of small whole numbers, or of which no two are equal."""
        rng = np.random.default_rng(self.picks.below(1 << 16))
        if dtype in ("uint8", "bool") or high < 3 or self.positive:
            low = 0
        if self.several:
            numbers = rng.permutation(int(np.prod(shape))).reshape(shape)
        else:
            numbers = rng.integers(low, 2 if dtype == "bool" else high, tuple(shape))
        if dtype in _FLOATS and self.picks.one_in(3) and not self.several:
            numbers = numbers + rng.uniform(0, 1, tuple(shape)).round(2)
        made = torch().tensor(np.asarray(numbers), dtype=getattr(torch(), dtype))
        self.values.append(made)
        return TorchPlace(len(self.values) - 1)

    def floats(self, *shape: int) -> TorchPlace:
        """Make an input of floats."""
        return self.tensor(shape, "float32")

    def size(self) -> int:
        """Draw an extent."""
        return self.picks.pick((3, 2, 4, 1, 5))
