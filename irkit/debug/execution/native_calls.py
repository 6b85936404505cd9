"""The child's side: compile native code, call it, and check the bytes beside its arrays."""

from typing import Any

import msgspec
import numpy as np

from irkit.codegen import emit, runnable_target
from irkit.core import Target
from irkit.debug.execution.guard_pages import Flush, GuardedKernel, GuardedMemory
from irkit.debug.execution.inputs import Array
from irkit.ir import PrimFunc, parse
from irkit.runtime import object_for, with_strides

_MAX_REUSED = 4 << 20
"""Bytes of arrays up to which a call reuses guarded pages."""
_MAX_TWICE = 64 << 20
"""Bytes of arrays up to which a call is made twice, once at either end of the pages."""


class _CompiledKernels:
    """Kernels compiled by this process, by their text, and its guarded pages."""

    def __init__(self) -> None:
        self.kernels: dict[str, tuple[PrimFunc, GuardedKernel]] = {}
        self.memory = GuardedMemory()


_COMPILED = _CompiledKernels()


def run_guarded(text: str, args: list[tuple[Any, tuple[int, ...] | None]]) -> tuple[Array, ...]:
    """Compile a function, call it on arrays between protected pages, and return the arrays.

    Raises: IRKitError if it writes into the unprotected bytes beside an array. Any other access out
    of bounds ends this process.
    """
    known = _COMPILED.kernels
    if text not in known:
        func = parse(text)
        target = msgspec.structs.replace(runnable_target(Target()), opt_level=1)
        known[text] = func, GuardedKernel(func, object_for(emit([func], target), target))
    func, kernel = known[text]
    given = [
        arg if strides is None or arg.strides == strides else with_strides(arg, strides)
        for arg, strides in args
    ]
    size = sum(each.nbytes for each in given if isinstance(each, np.ndarray))
    memory = _COMPILED.memory if size < _MAX_REUSED else GuardedMemory()
    # The start of a page first: a write slightly too far is then found with the name of the array.
    ends: tuple[Flush, ...] = ("start", "end") if size < _MAX_TWICE else ("end",)
    found = [kernel(memory, given, flush) for flush in ends][-1]
    return tuple(
        np.asarray(found[at]) for at, (_, strides) in enumerate(args) if strides is not None
    )
