"""Code for this processor, run in a child process; and the interpreter, which stands for none."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.codegen import is_foreign, runnable_target
from irkit.core import IRKitError, Target
from irkit.debug.execution.executors import InterpreterExecutor, arrays_of
from irkit.debug.execution.inputs import Array, InputSet
from irkit.debug.isolation.with_strides import WithStrides
from irkit.debug.targets.executor import (
    Legalise,
    Refused,
    TargetCall,
    TargetExecutor,
    TargetOutcome,
    unchanged,
)
from irkit.ir import PrimFunc, StepLimit, parse
from irkit.processes import Child, ChildDied, Limits
from irkit.runtime import Kernel, build_kernels

_SECONDS = 60.0


class HereExecutor(TargetExecutor):
    """LLVM's code for a processor of this family, without the instructions that are not here."""

    def __init__(self, name: str, target: Target, legalise: Legalise = unchanged) -> None:
        super().__init__(name, target, legalise)
        self._child = Child(Limits(_SECONDS))

    @property
    def how(self) -> str:
        """What runs the code, for people."""
        return "LLVM's code, on this machine"

    @property
    def missing(self) -> str:
        """What this machine lacks; empty if nothing is missing."""
        try:
            runnable_target(self.target)
        except IRKitError as error:
            return str(error)
        return ""

    def run_all(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls of functions with different names.

        Raises: IRKitError if they cannot be built together.
        """
        funcs = {func.name: func for func, _ in calls}
        texts = [func.script() for func in funcs.values()]
        try:
            self._child.call(prepare, texts, self.target)
        except ChildDied as error:
            raise IRKitError(f"the code generator {error.message}") from None
        except IRKitError as error:
            raise Refused(error.message, hint=error.hint) from None
        return [self._call(texts, list(funcs).index(func.name), args) for func, args in calls]

    def _call(self, texts: list[str], number: int, args: Sequence[Any]) -> TargetOutcome:
        given = [WithStrides.of(arg) for arg in args]
        try:
            arrays, message = self._child.call(call_prepared, texts, self.target, number, given)
        except ChildDied as error:
            return TargetOutcome("failed", message=f"it {error.message}")
        return TargetOutcome("stopped" if message else "ran", tuple(arrays), message)


class InterpretedTarget(TargetExecutor):
    """The interpreter, in NumPy. ``max_steps`` bounds each call."""

    def __init__(self, max_steps: int) -> None:
        super().__init__("interpreter", Target())
        self._executor = InterpreterExecutor(max_steps)

    @property
    def how(self) -> str:
        """What runs the code, for people."""
        return "the interpreter"

    def run_all(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls; one that takes too many steps has failed."""
        return [self._one(func, args) for func, args in calls]

    def _one(self, func: PrimFunc, args: Sequence[Any]) -> TargetOutcome:
        given = InputSet("", "given", tuple(args)).copied()
        try:
            with np.errstate(all="ignore"):
                made = self._executor.run(func, given)
        except StepLimit as error:
            return TargetOutcome("failed", message=str(error))
        if made.error:
            return TargetOutcome("stopped", arrays_of(func, given), made.error)
        return TargetOutcome("ran", made.arrays)


class _Prepared:
    """The kernels that this process has built last, by texts and target."""

    def __init__(self) -> None:
        self.key: tuple[tuple[str, ...], bytes] = (), b""
        self.kernels: list[Kernel] = []


_PREPARED = _Prepared()


def prepare(texts: list[str], target: Target) -> None:
    """Build functions for this machine; the child calls this."""
    key = tuple(texts), msgspec.json.encode(target)
    if _PREPARED.key != key:
        _PREPARED.kernels = build_kernels([parse(text) for text in texts], runnable_target(target))
        _PREPARED.key = key


def call_prepared(
    texts: list[str], target: Target, number: int, args: list[WithStrides]
) -> tuple[list[Array], str]:
    """Call one of the functions, and return its arrays and its error; the child calls this."""
    prepare(texts, target)
    given = [arg.value() for arg in args]
    message = ""
    try:
        _PREPARED.kernels[number](*given)
    except IRKitError as error:
        message = str(error)
    return [each for each in given if isinstance(each, np.ndarray)], message


def runs_here(target: Target) -> bool:
    """Return True if a target is LLVM's code for a processor of this machine's family."""
    return target.kind == "llvm" and not is_foreign(target)
