"""One function through all its steps: inputs, outcomes and tolerances."""

from collections.abc import Iterator

import msgspec

from irkit.debug.check.difference import Difference, compare, identical
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.precision import Precision
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.executors import (
    MAX_SLOWDOWN,
    CallOutcome,
    InterpreterExecutor,
    NativeExecutor,
    OutcomeCache,
)
from irkit.debug.execution.inputs import INTEGERS, Array, InputSet, TooLarge, input_sets
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import Buffer, PrimFunc, StepLimit


class Subject:
    """One function through all its steps: its inputs, and the outcomes computed from them."""

    def __init__(
        self, func: PrimFunc, options: CheckOptions, worker: NativeWorker | None = None
    ) -> None:
        self.func = func
        self.options = options
        self.worker = NativeWorker(options.seconds) if worker is None else worker
        self.unusable = ""
        self.runs: list[OutcomeCache] = []
        self.inputs: list[InputSet] = []
        self._precision: dict[tuple[int, int], Precision] = {}
        try:
            self._prepare()
        except StepLimit:
            self._prepare_native()
        except TooLarge as error:
            self.unusable = str(error)

    def _prepare(self) -> None:
        """Find inputs on which the original function runs."""
        executor = InterpreterExecutor(self.options.max_steps)
        self.inputs = self._usable(executor)
        executor.max_steps *= MAX_SLOWDOWN  # The result of a pass may take longer, within limits.
        self.runs = [OutcomeCache(executor, self.inputs)]
        if self.options.native:
            native = NativeExecutor(trusted=not self.options.guarded, worker=self.worker)
            self.runs.append(OutcomeCache(native, self.inputs))

    def _prepare_native(self) -> None:
        if self.options.native is False:
            self.unusable = "it takes too long to interpret, and native code is off"
            return
        executor = NativeExecutor(trusted=False, worker=self.worker)
        self.inputs = self._usable(executor)
        self.runs = [OutcomeCache(executor, self.inputs)]

    def _usable(self, executor: InterpreterExecutor | NativeExecutor) -> list[InputSet]:
        options, error = self.options, ""
        for integers in INTEGERS:
            made = input_sets(
                self.func,
                options.inputs,
                dims=options.dims,
                seed=options.seed,
                samples=options.samples,
                integers=integers,
            )
            outcomes = [executor.run(self.func, each.copied()) for each in made]
            error = error or next((each.error for each in outcomes if each.error), "")
            kept = [each for each, outcome in zip(made, outcomes, strict=True) if not outcome.error]
            if kept:
                return kept
        self.unusable = f"the original function fails: {error}"
        return []

    def verdict(self, blank: Verdict, before: PrimFunc, after: PrimFunc) -> Verdict:
        """Compare a function before and after a step, with each executor on each set of inputs."""
        blank = msgspec.structs.replace(blank, function=self.func.name)
        if self.unusable:
            return msgspec.structs.replace(blank, status="unchecked", message=self.unusable)
        how = " and ".join(runs.executor.how for runs in self.runs)
        worst = msgspec.structs.replace(blank, how=how)
        for runs in self.runs:
            for number, inputs in enumerate(self.inputs):
                found = self._compare(runs, number, before, after)
                verdict = msgspec.structs.replace(worst, **found, inputs=inputs.name)
                if not verdict.ok:
                    return msgspec.structs.replace(verdict, how=runs.executor.how)
                if verdict.error.abs > worst.error.abs:
                    worst = verdict
        return worst

    def _compare(
        self, runs: OutcomeCache, number: int, before: PrimFunc, after: PrimFunc
    ) -> dict[str, object]:
        try:
            expected = runs.outcome(before, number)
        except StepLimit as limit:
            expected = CallOutcome(error=str(limit))
        try:
            found = runs.outcome(after, number)
        except StepLimit as limit:
            found = CallOutcome(error=f"it does not end: {limit.message}")
        if expected.error:
            return {
                "status": "unchecked",
                "message": f"the input of the step fails: {expected.error}",
            }
        if found.error:
            return {"status": "failed", "message": found.error}
        return self._difference(runs, number, expected, found)

    def _difference(
        self, runs: OutcomeCache, number: int, expected: CallOutcome, found: CallOutcome
    ) -> dict[str, object]:
        pairs = list(zip(expected.arrays, found.arrays, strict=True))
        if all(identical(a, b) for a, b in pairs):
            return {"status": "same"}
        names = [param.name for param in self.func.params if isinstance(param, Buffer)]
        limits = self._limits(runs, number)
        special = self.inputs[number].kind == "special values"
        signs = special and isinstance(runs.executor, InterpreterExecutor)
        worst = Difference()
        for (a, b), limit, name in zip(pairs, limits, names, strict=True):
            apart = compare(a, b, limit, zeros_have_signs=signs)
            if apart.at is not None:
                return {"status": "differs", "error": apart, "buffer": name}
            worst = max(worst, apart, key=lambda each: each.abs)
        return {"status": "same", "error": worst}

    def _limits(self, runs: OutcomeCache, number: int) -> list[Array | None]:
        key = id(runs), number
        if key not in self._precision:

            def run(func: PrimFunc, args: list[object]) -> list[Array] | None:
                try:
                    outcome = runs.executor.run(func, args)
                except StepLimit:
                    return None
                return None if outcome.error else list(outcome.arrays)

            self._precision[key] = Precision(self.func, self.inputs[number], run)
        own = runs.outcome(self.func, number)
        return self._precision[key].allowed(list(own.arrays))

    def check_native(self, blank: Verdict) -> Iterator[Verdict]:
        """Compare native code with the interpreter on the original function.

        Steps are compared executor by executor, so they would not show a difference between the
        two.
        """
        if len(self.runs) < 2 or self.unusable:
            return
        verdict = msgspec.structs.replace(
            blank, function=self.func.name, name="code", pass_text="native code", status="same"
        )
        interpreted, native = self.runs
        for number, inputs in enumerate(self.inputs):
            expected = interpreted.outcome(self.func, number)
            found = native.outcome(self.func, number)
            result: dict[str, object] = {"status": "failed", "message": found.error}
            if not found.error:
                result = self._difference(native, number, expected, found)
            made = msgspec.structs.replace(
                verdict, **result, inputs=inputs.name, how=native.executor.how
            )
            if not made.ok:
                yield made
                return
        yield verdict
