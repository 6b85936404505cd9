"""A child process for native code, which may crash or hang without harm to this one.

It compiles a function, calls it, and checks the bytes beside its arrays.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.codegen import emit, runnable_target
from irkit.core import IRKitError, Target
from irkit.debug.execution.guard_pages import Flush, GuardedKernel, GuardedMemory
from irkit.debug.execution.inputs import Array
from irkit.debug.isolation.with_strides import WithStrides
from irkit.ir import PrimFunc, parse
from irkit.processes import Child, ChildDied, Limits
from irkit.runtime import object_for

_MAX_REUSED = 4 << 20
"""Bytes of arrays up to which a call reuses guarded pages."""
_MAX_TWICE = 64 << 20
"""Bytes of arrays up to which a call is made twice, once at either end of the pages."""


class NativeWorker:
    """A child process that compiles and runs functions one after another.

    It starts with the first call and restarts after a crash. Units: ``seconds`` for each call.
    """

    def __init__(self, seconds: float) -> None:
        self._child = Child(Limits(seconds))

    def run(self, func: PrimFunc, args: Sequence[Any]) -> tuple[Array, ...]:
        """Run a function and return its arrays afterwards.

        Raises: IRKitError if it cannot be compiled, crashes, writes beside its arrays, or runs too
        long.
        """
        try:
            given = [WithStrides.of(arg) for arg in args]
            return self._child.call(run_guarded, func.script(), given)
        except ChildDied as error:
            raise IRKitError(f"the native code {error.message}") from None

    def close(self) -> None:
        """End the child process if it is running."""
        self._child.close()


class _CompiledKernels:
    """Kernels compiled by this process, by their text, and its guarded pages."""

    def __init__(self) -> None:
        self.kernels: dict[str, tuple[PrimFunc, GuardedKernel]] = {}
        self.memory = GuardedMemory()


_COMPILED = _CompiledKernels()


def run_guarded(text: str, args: list[WithStrides]) -> tuple[Array, ...]:
    """Compile a function, call it on arrays between protected pages, and return the arrays; the
    child calls this.

    Raises: IRKitError if it writes into the unprotected bytes beside an array. Any other access out
    of bounds ends this process.
    """
    known = _COMPILED.kernels
    if text not in known:
        func = parse(text)
        target = msgspec.structs.replace(runnable_target(Target()), opt_level=1)
        known[text] = func, GuardedKernel(func, object_for(emit([func], target), target))
    func, kernel = known[text]
    given = [arg.value() for arg in args]
    size = sum(each.nbytes for each in given if isinstance(each, np.ndarray))
    memory = _COMPILED.memory if size < _MAX_REUSED else GuardedMemory()
    # The start of a page first: a write slightly too far is then found with the name of the array.
    ends: tuple[Flush, ...] = ("start", "end") if size < _MAX_TWICE else ("end",)
    found = [kernel(memory, given, flush) for flush in ends][-1]
    return tuple(np.asarray(found[at]) for at, arg in enumerate(args) if arg.strides is not None)
