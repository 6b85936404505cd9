"""A child process for native code, which may crash or hang without harm to this one.

It compiles a function, calls it, and checks the bytes beside its arrays.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from irkit.codegen import emit, runnable_target
from irkit.core import IRKitError, Target
from irkit.debug.execution.guard_pages import Flush, GuardedKernel, GuardedMemory
from irkit.debug.execution.inputs import Array
from irkit.debug.execution.loop_trips import loop_trips
from irkit.debug.isolation.with_strides import WithStrides
from irkit.ir import PrimFunc, parse
from irkit.processes import Child, ChildDied, Limits
from irkit.runtime import object_for

_T = TypeVar("_T")
_MAX_REUSED = 4 << 20
"""Bytes of arrays up to which a call reuses guarded pages."""
_MAX_TWICE = 64 << 20
"""Bytes of arrays up to which the first call is made twice, once at either end of the pages."""
_MANY_TRIPS = 3_000_000
"""Iterations of loops from which even the first call is made only once."""
_MAX_TEXTS = 64
"""Functions whose text is kept."""


class RanTooLong(IRKitError):
    """Raised when native code was stopped at its time limit."""


class NativeWorker:
    """A child process that compiles and runs functions one after another.

    It starts with the first call and restarts after a crash. Units: ``seconds`` for each call.
    """

    def __init__(self, seconds: float) -> None:
        self._child = Child(Limits(seconds))
        self._texts: dict[int, tuple[PrimFunc, str]] = {}

    def run(self, func: PrimFunc, args: Sequence[Any]) -> tuple[Array, ...]:
        """Run a function and return its arrays afterwards; one that is as it was can be the very
        argument.

        Raises: RanTooLong; IRKitError if it cannot be compiled, crashes, or writes beside its
        arrays.
        """
        if id(func) not in self._texts:
            self._texts = dict([*self._texts.items()][-_MAX_TEXTS:])
            self._texts[id(func)] = func, func.script()
        try:
            given = [WithStrides.of(arg) for arg in args]
            found = self._child.call(run_guarded, self._texts[id(func)][1], given)
        except ChildDied as error:
            kind = RanTooLong if error.kind == "timeout" else IRKitError
            raise kind(f"the native code {error.message}") from None
        arrays = [each.arg for each in given if each.strides is not None]
        return tuple(own if new is None else new for own, new in zip(arrays, found, strict=True))

    def call(self, function: Callable[..., _T], *args: Any) -> _T:
        """Call another function in the child. Raises: what it raises; ChildDied."""
        return self._child.call(function, *args)

    def close(self) -> None:
        """End the child process if it is running."""
        self._child.close()


class GuardedFunction:
    """A function compiled by this process, called between protected pages.

    The code is quick to make; ``shipped`` code is what :func:`irkit.build` makes of the same loops:
    level 3, for this processor, with loops unrolled.
    """

    def __init__(self, func: PrimFunc, *, shipped: bool = False) -> None:
        self.func = func
        self.trips = loop_trips(func)
        # Level 1 compiles twice as fast, but scalar code of it can run five times as long.
        level = 3 if shipped else 1 if self.trips < _MANY_TRIPS else 2
        target = msgspec.structs.replace(runnable_target(Target()), opt_level=level)
        image = object_for(emit([func], target), target, unroll=shipped)
        self.kernel = GuardedKernel(func, image)
        self.calls = 0

    def ends(self, size: int) -> tuple[Flush, ...]:
        """Return the ends of pages at which the arrays of the next call lie.

        They are both for the first call, with the start first: a write slightly too far is then
        found with the name of the array. Later calls take turns, and all calls of what runs long.
        """
        self.calls += 1
        if self.calls == 1 and size < _MAX_TWICE and self.trips < _MANY_TRIPS:
            return "start", "end"
        return ("end",) if self.calls % 2 else ("start",)

    def runs(
        self, memory: GuardedMemory, args: Sequence[Any], flushes: Sequence[Flush] = ()
    ) -> Iterator[list[Any]]:
        """Call the function with its arrays at some ends of pages, and yield the arguments after
        each call; ``memory`` is used for what is small."""
        size = sum(each.nbytes for each in args if isinstance(each, np.ndarray))
        pages = memory if size < _MAX_REUSED else GuardedMemory()
        for flush in flushes or self.ends(size):
            yield self.kernel(pages, args, flush)


class _CompiledKernels:
    """Functions compiled by this process, by their text, and its guarded pages."""

    def __init__(self) -> None:
        self.kernels: dict[str, GuardedFunction] = {}
        self.memory = GuardedMemory()


_COMPILED = _CompiledKernels()


def run_guarded(text: str, args: list[WithStrides]) -> tuple[Array | None, ...]:
    """Compile a function, call it on arrays between protected pages, and return the arrays, or None
    for each that is as it was; the child calls this.

    Raises: IRKitError if it writes into the unprotected bytes beside an array. Any other access out
    of bounds ends this process.
    """
    known = _COMPILED.kernels
    if text not in known:
        known[text] = GuardedFunction(parse(text))
    given = [arg.value() for arg in args]
    found = list(known[text].runs(_COMPILED.memory, given))[-1]
    return tuple(
        None if _same_bytes(given[at], np.asarray(found[at])) else np.asarray(found[at])
        for at, arg in enumerate(args)
        if arg.strides is not None
    )


def _same_bytes(one: Array, other: Array) -> bool:
    if not (one.flags.c_contiguous and other.flags.c_contiguous):
        return False
    return np.array_equal(one.reshape(-1).view(np.uint8), other.reshape(-1).view(np.uint8))
