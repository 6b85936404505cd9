"""The work of a child: run the native code of a stage, and compare it with what is known of it.

The code is made as :func:`irkit.build` makes it, but of the exact function, so equal programs give
equal bits. Where bits differ all the same, this module decides whether they may: a function such as
``exp`` is approximated, and the bits of a NaN are not specified.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, any_node, rewrite
from irkit.debug.check.comparison import difference_of
from irkit.debug.check.difference import Difference, identical, is_float
from irkit.debug.check.rounding_error.precision import Precision
from irkit.debug.check.well_defined import is_well_defined
from irkit.debug.execution.executors import (
    CallOutcome,
    InterpreterExecutor,
    arrays_of,
    exact,
)
from irkit.debug.execution.guard_pages import GuardedMemory
from irkit.debug.execution.inputs import Array, InputSet
from irkit.debug.execution.native_worker import GuardedFunction
from irkit.debug.isolation.with_strides import WithStrides
from irkit.ir import (
    INTRINSICS,
    Call,
    Expr,
    OutOfBounds,
    PrimFunc,
    Reinterpret,
    StepLimit,
    call,
    const,
    expand_instructions,
    parse,
    select,
)
from irkit.processes import report

COMPILING = "compiling"
"""What is reported until the code is there."""
_ROUNDED_ONCE = 0.5
"""Units in the last place of a function whose result is the same wherever it is computed."""


class KnownCall(msgspec.Struct, frozen=True):
    """A set of inputs, and what the arrays hold after a call on it."""

    inputs: InputSet
    arrays: tuple[Array, ...]


class CodeTrial(msgspec.Struct, frozen=True):
    """A stage to compile, and the calls to compare it with.

    ``interpreted``: the interpreter made the calls, or else native code of a lower level did.
    ``max_steps`` is for more runs of the interpreter. With ``guarded`` False, arrays have a free
    page at either end, so that code runs on which reads a little too far.
    """

    func: PrimFunc
    calls: tuple[KnownCall, ...]
    interpreted: bool
    max_steps: int
    guarded: bool = True


class CodeAnswer(msgspec.Struct, frozen=True):
    """What came of a trial: ``same``, ``differs``, ``failed``, ``out of bounds``, or ``not known``;
    and the inputs that show it. ``rounded`` counts the calls within the bounds of rounding."""

    status: str
    message: str = ""
    error: Difference = Difference()
    buffer: str = ""
    inputs: str = ""
    rounded: int = 0


def run_trial(trial: CodeTrial) -> CodeAnswer:
    """Compile a stage, make the calls between protected pages, and return the first difference.

    An access out of bounds can end this process; the name of the inputs is reported before each
    call.
    """
    try:
        return _Trial(trial).answer()
    except MemoryError:
        return CodeAnswer("not known", "there was not enough memory to run it")
    except Exception as error:  # A fault of irkit's, which is none of the code.
        return CodeAnswer("not known", f"it cannot be tried: {type(error).__name__}: {error}")


class _Trial:
    def __init__(self, trial: CodeTrial) -> None:
        self.trial, self.func = trial, trial.func
        self.memory = GuardedMemory()
        self.interpreter = InterpreterExecutor(trial.max_steps)
        self.rounded = 0

    def answer(self) -> CodeAnswer:
        report(COMPILING)
        try:
            code = GuardedFunction(exact(self.func), shipped=True)
        except IRKitError as error:
            return CodeAnswer("not known", f"it cannot be compiled: {error.message}")
        for known in self.trial.calls:
            report(known.inputs.name)
            found = self._of_call(code, known)
            if found is not None:
                return msgspec.structs.replace(found, inputs=known.inputs.name)
        return CodeAnswer("same", rounded=self.rounded)

    def _of_call(self, code: GuardedFunction, known: KnownCall) -> CodeAnswer | None:
        """Return what is wrong with a call, or None."""
        flushes = () if self.trial.guarded else ("inside",)
        try:
            for args in code.runs(self.memory, known.inputs.copied(), flushes):
                got = arrays_of(self.func, args)
                if all(map(identical, known.arrays, got)):
                    continue
                found = self._judged(code, known, got)
                if found is not None:
                    return found
        except IRKitError as error:
            status = "out of bounds" if isinstance(error, OutOfBounds) else "failed"
            return CodeAnswer(status, error.message)
        return None

    def _judged(
        self, code: GuardedFunction, known: KnownCall, got: Sequence[Array]
    ) -> CodeAnswer | None:
        """Return what other bits mean; None if the program may give either."""
        limits: list[Array | None] = [None] * len(got)
        if is_approximate(self.func) or not self.trial.interpreted:
            # A number has the same result at every level.
            quick = self._quick(self.func, known.inputs)
            if quick is not None and all(map(identical, quick, got)):
                limits = self._limits(known)
                got = _within_nothing(known.arrays, got, limits)
        found = difference_of(self.func, known.arrays, got, limits)
        if found["status"] == "same":
            self.rounded += 1
            return None
        if _has_bits_of_floats(self.func) and self._alike_without_nans(known.inputs):
            return None
        if not self._is_defined(code, known):
            what = "its result depends on memory that nobody wrote, or on the order of iterations"
            return CodeAnswer("not known", what)
        return CodeAnswer(**found)  # type: ignore[arg-type]

    def _quick(self, func: PrimFunc, inputs: InputSet) -> tuple[Array, ...] | None:
        """Return the results of code that few of LLVM's passes made."""
        code = GuardedFunction(exact(func))
        flushes = () if self.trial.guarded else ("inside",)
        with suppress(IRKitError):
            *_, args = code.runs(self.memory, inputs.copied(), flushes)
            return arrays_of(func, args)
        return None

    def _limits(self, known: KnownCall) -> list[Array | None]:
        """Return how far each element may be from what is known of it."""
        if not self.trial.interpreted:
            return [None] * len(known.arrays)
        with np.errstate(all="ignore"):
            return Precision(self.func).allowed(known.inputs, known.arrays, self._interpreted)

    def _interpreted(self, func: PrimFunc, args: list[object]) -> list[Array] | None:
        outcome = self._outcome(func, args)
        return None if outcome.error else list(outcome.arrays)

    def _outcome(self, func: PrimFunc, args: Sequence[Any]) -> CallOutcome:
        try:
            return self.interpreter.run(func, args)
        except StepLimit as limit:
            return CallOutcome(error=str(limit))

    def _alike_without_nans(self, inputs: InputSet) -> bool:
        """Return True if native code is right once every NaN whose bits are taken has the same."""
        func = rewrite(self.func, _with_one_nan, on=Reinterpret)
        if self.trial.interpreted:
            outcome = self._outcome(func, inputs.copied())
            wanted = None if outcome.error else outcome.arrays
        else:
            wanted = self._quick(func, inputs)
        if wanted is None:
            return False
        (args,) = GuardedFunction(exact(func), shipped=True).runs(
            self.memory, inputs.copied(), ("inside",)
        )
        return all(map(identical, wanted, arrays_of(func, args)))

    def _is_defined(self, code: GuardedFunction, known: KnownCall) -> bool:
        """Return True if the program has one result, as far as can be seen."""
        if not self.trial.interpreted:
            again = [self._quick(self.func, known.inputs) for _ in range(2)]
            return all(
                each is not None and all(map(identical, known.arrays, each)) for each in again
            )
        try:
            return is_well_defined(self.func, known.inputs.copied(), max_steps=self.trial.max_steps)
        except StepLimit:
            return True


def is_approximate(func: PrimFunc) -> bool:
    """Return True if a function may give other bits than the interpreter, within bounds."""
    return any_node(expand_instructions(func), Call, _is_approximated)


def _is_approximated(node: Call) -> bool:
    return node.name == "muladd" or INTRINSICS[node.name].ulps > _ROUNDED_ONCE


def _has_bits_of_floats(func: PrimFunc) -> bool:
    return any_node(func, Reinterpret, _has_float_bits)


def _has_float_bits(node: Reinterpret) -> bool:
    return node.value.dtype.is_float


def _with_one_nan(node: Reinterpret) -> Expr | None:
    if not node.value.dtype.is_float:
        return None
    return select(call("isnan", node.value), const(0, node.dtype), node)


def _within_nothing(
    wanted: Sequence[Array], got: Sequence[Array], limits: Sequence[Array | None]
) -> list[Array]:
    """Return results, with what is known in place of elements of which a bound says nothing."""
    return [
        np.where(np.isinf(limit), one, other).astype(one.dtype)
        if limit is not None and is_float(one)
        else other
        for one, other, limit in zip(wanted, got, limits, strict=True)
    ]


def run_trial_of_text(
    text: str,
    calls: Sequence[tuple[str, list[WithStrides], tuple[Array, ...]]],
    interpreted: bool,
    max_steps: int,
    guarded: bool,
) -> CodeAnswer:
    """Run a trial that came from another process, with its function as text."""
    known = tuple(
        KnownCall(InputSet(name, "given", tuple(each.value() for each in args)), arrays)
        for name, args, arrays in calls
    )
    return run_trial(CodeTrial(parse(text), known, interpreted, max_steps, guarded))
