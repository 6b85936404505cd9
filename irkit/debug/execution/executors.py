"""Run functions on sets of inputs and keep what comes out: with the interpreter, which finds every
access out of bounds, or as native code, which is fast.

Native code runs in this process only where the interpreter has run the very same call before;
otherwise in a child process under a time limit.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, Target
from irkit.debug.execution.inputs import Array, InputSet
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import Buffer, Interpreted, PrimFunc, StepLimit
from irkit.runtime import Kernel, build_kernels

MAX_STEPS = 1_000_000
MAX_SLOWDOWN = 4
MAX_SECONDS = 60.0
_QUICK = Target(opt_level=1)
_EXACT = ("contract", "threads")


class CallOutcome(msgspec.Struct, frozen=True):
    """What a call left in its arrays, in the order of the parameters, or how it failed."""

    arrays: tuple[Array, ...] = ()
    error: str = ""


class InterpreterExecutor:
    """Interpret functions, each compiled once. ``max_steps`` bounds each call."""

    how = "interpreter"

    def __init__(self, max_steps: int = MAX_STEPS) -> None:
        self.max_steps = max_steps
        self._known: dict[int, tuple[PrimFunc, Interpreted]] = {}

    def run(self, func: PrimFunc, args: Sequence[Any]) -> CallOutcome:
        """Run on arrays that are changed in place. Raises: StepLimit."""
        if id(func) not in self._known:
            self._known[id(func)] = func, Interpreted(func)
        try:
            self._known[id(func)][1](*args, max_steps=self.max_steps)
        except StepLimit:
            raise
        except IRKitError as error:
            return CallOutcome(error=str(error))
        return CallOutcome(arrays_of(func, args))


class NativeExecutor:
    """Run functions as native code, without contraction, so that equal programs give equal bits.

    ``trusted`` says that the interpreter has accepted what is run.
    """

    how = "native code"

    def __init__(self, *, trusted: bool, worker: NativeWorker | None = None) -> None:
        self.trusted = trusted
        self.worker = NativeWorker(MAX_SECONDS) if worker is None else worker
        self._known: dict[int, tuple[PrimFunc, Kernel]] = {}

    def run(self, func: PrimFunc, args: Sequence[Any]) -> CallOutcome:
        """Run on arrays that are changed in place."""
        try:
            if not self.trusted:
                return CallOutcome(self.worker.run(exact(func), args))
            if id(func) not in self._known:
                self._known[id(func)] = func, build_kernels([exact(func)], _QUICK)[0]
            self._known[id(func)][1](*args)
        except IRKitError as error:
            return CallOutcome(error=str(error))
        return CallOutcome(arrays_of(func, args))


def exact(func: PrimFunc) -> PrimFunc:
    """Forbid contraction in a function, which rounds differently wherever code is moved, and
    threads, with which a function that is wrong may be right by chance."""
    attrs = tuple((key, value) for key, value in func.attrs if key not in _EXACT)
    return func.replace(attrs=(*attrs, *((key, False) for key in _EXACT)))


def arrays_of(func: PrimFunc, args: Sequence[Any]) -> tuple[Array, ...]:
    """Take the arrays from among the arguments of a call."""
    return tuple(
        np.asarray(arg)
        for param, arg in zip(func.params, args, strict=True)
        if isinstance(param, Buffer)
    )


class OutcomeCache:
    """Remember the outcome of each function on each set of inputs."""

    def __init__(
        self, engine: InterpreterExecutor | NativeExecutor, inputs: Sequence[InputSet]
    ) -> None:
        self.engine = engine
        self.inputs = inputs
        self._known: dict[tuple[int, int], tuple[PrimFunc, CallOutcome]] = {}

    def outcome(self, func: PrimFunc, number: int) -> CallOutcome:
        """Run a function on the set of a number. Raises: StepLimit."""
        key = id(func), number
        if key not in self._known:
            made = self.engine.run(func, self.inputs[number].copied())
            self._known[key] = func, made
        return self._known[key][1]
