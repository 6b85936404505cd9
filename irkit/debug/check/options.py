"""The options of a check."""

from collections.abc import Mapping

import msgspec
from numpy.typing import ArrayLike

from irkit.debug.execution.executors import MAX_SECONDS, MAX_STEPS


class CheckOptions(msgspec.Struct, frozen=True):
    """How to check. ``native`` None means: only where the interpreter would take too long, which
    is more than ``max_steps``. ``guarded`` runs native code amid pages that nobody may touch, in a
    process of its own, also where the interpreter vouches for the program: it finds what code
    generation does wrong."""

    inputs: Mapping[str, ArrayLike] = {}
    dims: Mapping[str, int] = {}
    seed: int = 0
    samples: int = 4
    native: bool | None = None
    guarded: bool = False
    kernels: bool = False  # Run a graph with its kernels too.
    max_steps: int = MAX_STEPS
    seconds: float = MAX_SECONDS  # For each call of native code that nobody vouches for.
