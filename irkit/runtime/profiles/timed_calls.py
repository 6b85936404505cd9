"""The kernel calls of a model, made one by one to measure them."""

import ctypes
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from irkit.codegen import (
    Branch,
    Copy,
    ExecutorPlan,
    FlowKind,
    KernelCall,
    TensorPlace,
    control_flow,
    evaluate_sizes,
    iteration_of,
    symbol,
)
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
        self._addresses = addresses
        self._steps = [self._step(call, addresses) for call in plan.calls if not plan.measured]
        self._flow = list(control_flow(plan))
        self._where = {event: at for at, event in enumerate(self._flow)}
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
        at = 0
        while at < len(self._flow):
            what, number = self._flow[at]
            if what == "measure":
                at += 1
                status = self._measure(number)
                if status:
                    return status
                continue
            if what != "call":
                at = self._next(what, number)
                continue
            at += 1
            call = self.plan.calls[number]
            kernel, args = self._steps[number] if self._steps else self._step(call, self._addresses)
            start = now()
            status = kernel(*args)
            end = now()
            if status:
                return (number + 1) << 32 | (status & 0xFFFFFFFF)
            if keep:
                self.started[number].append(start)
                self.lasted[number].append(end - start)
        for copy in self.plan.copies:
            self._copy(copy)
        return 0

    def _measure(self, number: int) -> int:
        """Bind a dimension as the executor does, and return the status that it would return."""
        size = self.plan.measured[number]
        found = ctypes.c_int64.from_address(self._at(size.count)).value
        if not 0 <= found <= self.sizes.size(size.most):
            return -(number + 1)
        known = {**self.sizes.values(), size.name: found}
        self.sizes.store(evaluate_sizes(size.steps, known))
        return 0

    def _next(self, what: FlowKind, number: int) -> int:
        """Begin a branch or loop, change sides, or end it; return where in the flow to go on."""
        region = self.plan.regions[number]
        here, end = self._where[what, number], self._where["end", number]
        if isinstance(region, Branch):
            if what == "if":
                return 1 + (here if self._is_true(region.cond) else self._where["else", number])
            return 1 + end
        counter = ctypes.c_int64.from_address(self._at(region.number))
        if what == "loop":
            for copy in region.enter:
                self._copy(copy)
            for row in region.rows:
                rows, size = self.sizes.size(row.rows), self.sizes.size(row.size)
                ctypes.memset(self._at(row.to), 0, rows * size)
            counter.value = 0
        else:
            for copy in region.carry:
                self._copy(copy)
            for row in region.rows:
                size = self.sizes.size(row.size)
                to = self._at(row.to) + counter.value * size
                ctypes.memmove(to, self._at(row.source), size)
            counter.value += 1
        most = ctypes.c_int64.from_address(self._at(region.count)).value
        most = min([most, *(self.sizes.size(row.rows) for row in region.rows)])
        if number in self.plan.measuring_loops:
            self.sizes.store({iteration_of(number): counter.value})
        goes_on = self._is_true(region.cond) and counter.value < most
        return 1 + (self._where["loop", number] if goes_on else end)

    def _at(self, place: TensorPlace) -> int:
        return self._address(place, self._addresses)

    def _is_true(self, place: TensorPlace) -> bool:
        return ctypes.c_uint8.from_address(self._at(place)).value != 0

    def _copy(self, copy: Copy) -> None:
        ctypes.memmove(self._at(copy.to), self._at(copy.source), self.sizes.size(copy.size))

    def result(self) -> tuple[CallProfile, ...]:
        """Return what was measured, without calls of branches that were never taken."""
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
            if lasted
        )


def timed(run: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = perf_counter_ns()
    run()
    return (perf_counter_ns() - start) * 1e-9
