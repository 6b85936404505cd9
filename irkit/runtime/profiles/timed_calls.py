"""The kernel calls of a model, made one by one to measure them."""

import ctypes
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from irkit.codegen import ExecutorPlan, KernelCall, TensorPlace, symbol
from irkit.runtime.call_sizes import CallSizes
from irkit.runtime.jit import Library
from irkit.runtime.profiles.profile import CallProfile

# By kind of place: the address of each array, or of the block of memory.
Addresses = dict[str, list[int] | int]


class TimedCalls:
    """The kernel calls of a plan, made one by one, with the time that each takes."""

    def __init__(
        self, plan: ExecutorPlan, library: Library, addresses: Addresses, sizes: CallSizes
    ) -> None:
        self.plan = plan
        self.sizes = sizes
        self.library = library  # It owns the code.
        self._steps = [self._step(call, addresses) for call in plan.calls]
        self.started: list[list[int]] = [[] for _ in plan.calls]
        self.lasted: list[list[int]] = [[] for _ in plan.calls]

    def _step(self, call: KernelCall, addresses: Addresses) -> tuple[Any, list[Any]]:
        scalars, extents = (
            [ctypes.c_int64(self.sizes.size(size)) for size in sizes]
            for sizes in (call.scalars, call.extents)
        )
        buffers = [ctypes.c_void_p(self._address(place, addresses)) for place in call.args]
        args = [*scalars, *buffers, *extents, *[ctypes.c_void_p(None)] * call.records]
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *[type(arg) for arg in args])
        return prototype(self.library.address(symbol(call.kernel))), args

    def _address(self, place: TensorPlace, addresses: Addresses) -> int:
        found, at = addresses[place.kind], self.sizes.size(place.at)
        return found + at if isinstance(found, int) else found[at]

    def run(self, *, keep: bool) -> int:
        """Make every call, and return 0, or the status that the executor would return.

        Times are kept where ``keep`` says so: the first runs warm up.
        """
        now = perf_counter_ns
        for number, (kernel, args) in enumerate(self._steps):
            start = now()
            status = kernel(*args)
            end = now()
            if status:
                return (number + 1) << 32 | (status & 0xFFFFFFFF)
            if keep:
                self.started[number].append(start)
                self.lasted[number].append(end - start)
        return 0

    def result(self) -> tuple[CallProfile, ...]:
        """Return what was measured."""
        first = min([times[0] for times in self.started if times], default=0)
        return tuple(
            CallProfile(
                call.kernel,
                call.node,
                call.operators,
                tuple(start - first for start in started),
                tuple(lasted),
                self.plan.work.get(call.kernel),
            )
            for call, started, lasted in zip(
                self.plan.calls, self.started, self.lasted, strict=True
            )
        )


def timed(run: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = perf_counter_ns()
    run()
    return (perf_counter_ns() - start) * 1e-9
