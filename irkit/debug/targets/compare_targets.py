"""A function on two targets: do they mean the same, and which line is the first that differs?"""

from collections.abc import Sequence
from contextlib import suppress

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.debug.check.difference import Difference
from irkit.debug.check.law.permitted_values import permitted_to_either
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.rounding_error.precision import Precision, native_limits
from irkit.debug.check.subject import Subject
from irkit.debug.execution.executors import InterpreterExecutor, NativeExecutor, exact
from irkit.debug.execution.inputs import Array, InputSet
from irkit.debug.execution.native_worker import NativeWorker
from irkit.debug.targets.error_limit import ErrorLimit, Limits, agree, difference
from irkit.debug.targets.executor import TargetCall, TargetExecutor, TargetOutcome
from irkit.debug.targets.first_line import first_line
from irkit.debug.targets.target_verdict import TargetVerdict
from irkit.ir import Buffer, PrimFunc, StepLimit


class TargetComparison:
    """Comparison of functions on two targets, judged by the interpreter.

    With ``contract`` False nothing is fused or reordered, and results must have the same bits; else
    they may differ by as much as the rounding of the function allows, and either side may have
    either zero of a ``min`` or ``max``. ``reference`` tells which of the two is right. ``worker``
    runs what takes the interpreter too long.
    """

    def __init__(
        self,
        first: TargetExecutor,
        second: TargetExecutor,
        reference: TargetExecutor,
        worker: NativeWorker,
        *,
        contract: bool,
        max_steps: int,
    ) -> None:
        self.first, self.second, self.reference = first, second, reference
        self.worker, self.contract, self.max_steps = worker, contract, max_steps

    def verdict(
        self, func: PrimFunc, inputs: Sequence[InputSet], launched: PrimFunc | None = None
    ) -> TargetVerdict:
        """Return what a function, as it is after the phases, does on the two targets; devices run
        ``launched``, whose loops are bound to threads."""
        run = self._as_compared(func)
        pairs = zip(
            inputs,
            *(
                each.run([TargetCall(self._of(each, run, launched), i.args) for i in inputs])
                for each in (self.first, self.second, self.reference)
            ),
            strict=True,
        )
        blank = TargetVerdict(
            func.name, self.first.name, self.second.name, "same", tried=f"{len(inputs)} inputs"
        )
        worst = blank
        for each, one, two, known in pairs:
            found = self._on(run, each, one, two, known, blank)
            if found.status not in ("same", "rounds differently"):
                return found
            if found.error.abs > worst.error.abs or worst.status == "same":
                worst = found
        return worst

    def _as_compared(self, func: PrimFunc) -> PrimFunc:
        return func if self.contract else exact(func)

    def _of(self, executor: TargetExecutor, func: PrimFunc, launched: PrimFunc | None) -> PrimFunc:
        if launched is None or executor.target.device is None:
            return func
        return self._as_compared(launched)

    def _on(
        self,
        func: PrimFunc,
        inputs: InputSet,
        one: TargetOutcome,
        two: TargetOutcome,
        known: TargetOutcome,
        blank: TargetVerdict,
    ) -> TargetVerdict:
        """Compare the outcomes of one call."""

        def verdict(status: str, message: str = "", **more: object) -> TargetVerdict:
            return msgspec.structs.replace(
                blank, status=status, message=message, inputs=inputs.name, **more
            )

        pairs = ((self.first.name, one), (self.second.name, two))
        for name, outcome in pairs:
            if outcome.end == "refused":
                return verdict("not known", f"{name} refuses it: {outcome.message}")
        for name, outcome in pairs:
            if outcome.end == "failed":
                return verdict("failed", f"{name}: {outcome.message}")
        if one.end != two.end:
            texts = [f"{n}: {o.message or 'it ends'}" for n, o in pairs]
            return verdict("differs", "; ".join(texts), right=self._same_end(pairs, known))
        if one.end == "stopped":
            return verdict("same")
        limits = self._limits(func, inputs, one.arrays)
        buffers = [param for param in func.params if isinstance(param, Buffer)]
        worst = Difference()
        apart_by_array = self._differences(func, inputs, one.arrays, two.arrays, limits)
        for buffer, apart in zip(buffers, apart_by_array, strict=True):
            if apart.at is not None:
                line = first_line(
                    func, inputs, self.first, self.second, self.reference, self._differences
                )
                hint = "" if line is not None else _HIDDEN
                return verdict(
                    "differs", hint, error=apart, buffer=buffer.name, line=line,
                    right=self._right(func, inputs, known, one, two, limits),
                )  # fmt: skip
            worst = max(worst, apart, key=lambda each: each.abs)
        return verdict("rounds differently" if worst.ulp else "same", error=worst)

    def _differences(
        self,
        func: PrimFunc,
        inputs: InputSet,
        one: Sequence[Array],
        two: Sequence[Array],
        limits: Limits | None = None,
    ) -> list[Difference]:
        """Return the difference of each array that two targets leave."""
        known = self._limits(func, inputs, one) if limits is None else limits
        apart = list(map(difference, one, two, known))
        if all(each.at is None for each in apart):
            return apart

        def run(choice: PrimFunc) -> list[Array] | None:
            return self._run(choice, inputs.copied())

        def within(at: int, a: Array, b: Array) -> Array:
            return agree(a, b, known[at])

        both = permitted_to_either(func, run, one, two, within)
        seen = [
            np.where(same, a, b).astype(b.dtype) for same, a, b in zip(both, one, two, strict=True)
        ]
        return list(map(difference, one, seen, known))

    def _limits(self, func: PrimFunc, inputs: InputSet, own: Sequence[Array]) -> Limits:
        """Return how far each element of each array may differ; None where bits must agree."""
        if not self.contract:
            return [None] * len(own)
        known = Precision(func).allowed(inputs, tuple(own), self._run)
        near = native_limits(own, known)
        return [
            None if limit is None or bound is None else ErrorLimit(bound, np.isinf(limit))
            for limit, bound in zip(known, near, strict=True)
        ]

    def _run(self, func: PrimFunc, args: list[object]) -> list[Array] | None:
        with suppress(StepLimit), np.errstate(all="ignore"):
            outcome = InterpreterExecutor(self.max_steps).run(func, args)
            return None if outcome.error else list(outcome.arrays)
        outcome = NativeExecutor(self.worker).run(func, args)
        return None if outcome.error else list(outcome.arrays)

    def _right(
        self,
        func: PrimFunc,
        inputs: InputSet,
        known: TargetOutcome,
        one: TargetOutcome,
        two: TargetOutcome,
        limits: Limits,
    ) -> str:
        """Return the name of the target that gives what the interpreter gives, if only one does."""
        if known.end != "ran":
            return ""
        agree = [
            name
            for name, outcome in ((self.first.name, one), (self.second.name, two))
            if all(
                each.at is None
                for each in self._differences(func, inputs, known.arrays, outcome.arrays, limits)
            )
        ]
        return agree[0] if len(agree) == 1 else ""

    def _same_end(self, pairs: Sequence[tuple[str, TargetOutcome]], known: TargetOutcome) -> str:
        agree = [name for name, outcome in pairs if outcome.end == known.end]
        return agree[0] if len(agree) == 1 else ""


_HIDDEN = (
    "no line stores another value while its values are logged, so the difference needs the code "
    "that is made without logs"
)


def inputs_of(func: PrimFunc, options: CheckOptions) -> tuple[list[InputSet], str]:
    """Return sets of inputs on which a function runs, or none and the reason."""
    worker = NativeWorker(options.seconds)
    try:
        subject = Subject(func, options, worker)
    finally:
        worker.close()
    return subject.inputs, subject.unusable


def require_two(targets: Sequence[str]) -> None:
    """Raise IRKitError unless there are two different targets to compare."""
    if len(set(targets)) < 2:
        raise IRKitError(
            "a comparison needs two different targets",
            hint="For example: --target host --target c",
        )
