"""Execution of functions on sets of inputs.

The interpreter finds every access out of bounds; native code is fast, and runs in a child process
under a time limit.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, rewrite
from irkit.debug.execution.inputs import Array, InputSet
from irkit.debug.execution.native_worker import NativeWorker, RanTooLong
from irkit.ir import (
    Assert,
    Buffer,
    FailedAssertion,
    For,
    InterpretedFunction,
    OutOfBounds,
    PrimFunc,
    StepLimit,
)

MAX_STEPS = 1_000_000
MAX_SLOWDOWN = 4  # Steps that a pass may add, as a factor.
MAX_SECONDS = 60.0
_INEXACT = ("contract", "threads", "reassoc")


class CallOutcome(msgspec.Struct, frozen=True):
    """The arrays after a call, in the order of the parameters, or the error it failed with.

    ``outside`` if that is an access out of bounds, ``stopped`` if it did not end within its limit,
    ``assertion`` if that one failed in the interpreter. ``steps`` counts what the interpreter did.
    """

    arrays: tuple[Array, ...] = ()
    error: str = ""
    outside: bool = False
    stopped: bool = False
    steps: int = 0
    assertion: Assert | None = None


class InterpreterExecutor:
    """The interpreter, which prepares each function once. ``max_steps`` bounds each call."""

    how = "interpreter"

    def __init__(self, max_steps: int = MAX_STEPS) -> None:
        self.max_steps = max_steps
        self._known: dict[int, tuple[PrimFunc, InterpretedFunction]] = {}

    def run(self, func: PrimFunc, args: Sequence[Any], max_steps: int | None = None) -> CallOutcome:
        """Run a function; arrays are changed in place.

        Raises: StepLimit.
        """
        if id(func) not in self._known:
            self._known[id(func)] = func, InterpretedFunction(func)
        limit = self.max_steps if max_steps is None else max_steps
        try:
            steps = self._known[id(func)][1](*args, max_steps=limit)
        except StepLimit:
            raise
        except FailedAssertion as error:
            return CallOutcome(error=str(error), assertion=error.assertion)
        except IRKitError as error:
            return CallOutcome(error=str(error), outside=isinstance(error, OutOfBounds))
        return CallOutcome(arrays_of(func, args), steps=steps)


class NativeExecutor:
    """Native code in a child process, compiled without contraction so that equal programs give
    equal bits."""

    how = "native code"

    def __init__(self, worker: NativeWorker) -> None:
        self.worker = worker
        self._exact: dict[int, tuple[PrimFunc, PrimFunc]] = {}

    def run(self, func: PrimFunc, args: Sequence[Any]) -> CallOutcome:
        """Run a function; the arguments are not changed."""
        try:
            if id(func) not in self._exact:
                self._exact[id(func)] = func, exact(func)
            return CallOutcome(self.worker.run(self._exact[id(func)][1], args))
        except IRKitError as error:
            outside, stopped = isinstance(error, OutOfBounds), isinstance(error, RanTooLong)
            return CallOutcome(error=str(error), outside=outside, stopped=stopped)


def exact(func: PrimFunc) -> PrimFunc:
    """Forbid contraction, threads and reordered sums in a function.

    Contraction and reordering round differently wherever code is moved; with threads a wrong
    function can be right by chance.
    """
    func = rewrite(func, _in_order, on=For)
    attrs = tuple((key, value) for key, value in func.attrs if key not in _INEXACT)
    return func.replace(attrs=(*attrs, *((key, False) for key in _INEXACT)))


def _in_order(loop: For) -> For | None:
    if "reassoc" not in dict(loop.attrs):
        return None
    return loop.replace(attrs=tuple(each for each in loop.attrs if each[0] != "reassoc"))


def arrays_of(func: PrimFunc, args: Sequence[Any]) -> tuple[Array, ...]:
    """Return the arrays among the arguments of a call."""
    return tuple(
        np.asarray(arg)
        for param, arg in zip(func.params, args, strict=True)
        if isinstance(param, Buffer)
    )


class OutcomeCache:
    """Outcomes of functions on sets of inputs, each computed once."""

    def __init__(
        self, executor: InterpreterExecutor | NativeExecutor, inputs: Sequence[InputSet]
    ) -> None:
        self.executor = executor
        self.inputs = inputs
        self._known: dict[tuple[int, int], tuple[PrimFunc, CallOutcome]] = {}

    def outcome(self, func: PrimFunc, number: int) -> CallOutcome:
        """Return the outcome of a function on input set ``number``.

        Raises: StepLimit.
        """
        key = id(func), number
        if key not in self._known:
            made = self.executor.run(func, self.inputs[number].copied())
            self._known[key] = func, made
        return self._known[key][1]

    @contextmanager
    def briefly(self) -> Generator[None]:
        """Forget afterwards what is computed meanwhile."""
        known = dict(self._known)
        try:
            yield
        finally:
            self._known = known

    def remember(self, func: PrimFunc, number: int, outcome: CallOutcome) -> None:
        """Keep an outcome that is known already."""
        self._known[id(func), number] = func, outcome
