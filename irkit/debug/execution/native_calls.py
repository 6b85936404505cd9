"""The side of the process in which native code may crash: compile, call, look beside the arrays."""

from typing import Any

import msgspec
import numpy as np

from irkit.codegen import emit, runnable_target
from irkit.core import Target
from irkit.debug.execution.guard_pages import Flush, GuardedKernel, GuardedMemory
from irkit.debug.execution.inputs import Array
from irkit.ir import PrimFunc, parse
from irkit.runtime import object_for

_SMALL = 4 << 20
"""Bytes of the arrays of a call whose pages are kept for the next one."""
_TWICE = 64 << 20
"""Bytes of the arrays of a call that is made twice: at either end of the guard pages."""


class _Known:
    """What this process has compiled, by its text, and the pages that it has guarded."""

    def __init__(self) -> None:
        self.kernels: dict[str, tuple[PrimFunc, GuardedKernel]] = {}
        self.yard = GuardedMemory()


_KNOWN = _Known()


def run_guarded(text: str, args: list[tuple[Any, tuple[int, ...] | None]]) -> tuple[Array, ...]:
    """Compile a function and call it amid pages that nobody may touch; return the arrays as it
    leaves them.

    Raises: IRKitError if it writes beside an array where it is allowed to; elsewhere, and where it
    reads there, this process ends.
    """
    known = _KNOWN.kernels
    if text not in known:
        func = parse(text)
        target = msgspec.structs.replace(runnable_target(Target()), opt_level=1)
        known[text] = func, GuardedKernel(func, object_for(emit([func], target), target))
    func, kernel = known[text]
    given = [arg if strides is None else _strided(arg, strides) for arg, strides in args]
    size = sum(each.nbytes for each in given if isinstance(each, np.ndarray))
    yard = _KNOWN.yard if size < _SMALL else GuardedMemory()
    # At the start of a page first: what is written a little too far can be told by its name.
    ends: tuple[Flush, ...] = ("start", "end") if size < _TWICE else ("end",)
    found = [kernel(yard, given, flush) for flush in ends][-1]
    return tuple(
        np.asarray(found[at]) for at, (_, strides) in enumerate(args) if strides is not None
    )


def _strided(given: Array, strides: tuple[int, ...]) -> Array:
    """Lay an array out as it was: strides get lost on the way here."""
    if given.strides == strides or not given.size:
        return given
    size = sum((n - 1) * step for n, step in zip(given.shape, strides, strict=True))
    memory = np.zeros(size + given.itemsize, np.uint8)
    made: Array = np.lib.stride_tricks.as_strided(memory.view(given.dtype), given.shape, strides)
    made[...] = given
    return made
