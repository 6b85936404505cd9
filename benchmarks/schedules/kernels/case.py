"""One kernel: a function without a schedule, its operands, and what it is compared with."""

import math
from typing import Any

import msgspec
import numpy as np

from benchmarks.timing import Thunk
from irkit.ir import PrimFunc


class Case(msgspec.Struct, frozen=True):
    """A function without a schedule, its operands (results last), and its peers.

    ``peers`` return their result, or leave it in an array and return that. ``results`` are how
    many operands are results.
    """

    name: str
    func: PrimFunc
    operands: list[Any]
    peers: dict[str, Thunk]
    results: int = 1
    tolerance: float = 1e-3


def floats(rng: np.random.Generator, *shape: int) -> Any:
    """Draw an array of normal f32."""
    return rng.standard_normal(shape, dtype=np.float32)


def log_uniform(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number whose logarithm is uniform between two."""
    return round(math.exp(rng.uniform(math.log(low), math.log(high))))
