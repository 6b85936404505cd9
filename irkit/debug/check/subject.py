"""One function through all its steps: inputs, outcomes and tolerances."""

from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from irkit.core import walk
from irkit.debug.check.comparison import Comparison, difference_of
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.precision import Precision
from irkit.debug.check.race_search import RaceSearch
from irkit.debug.check.schedule_steps import SCHEDULE
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.edge_inputs import edge_inputs
from irkit.debug.execution.executors import (
    MAX_SLOWDOWN,
    CallOutcome,
    InterpreterExecutor,
    NativeExecutor,
    OutcomeCache,
)
from irkit.debug.execution.inputs import INTEGERS, Array, InputSet, TooLarge, input_sets
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import Const, PrimFunc, StepLimit

EDGE_SETS = 3
"""Sets of inputs at the edges for the first step; each later one that brings constants adds one."""
MAX_EDGE_SETS = 6
EDGE_STEPS = 10_000


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
        self._start = func
        self.races: RaceSearch | None = None
        self._considered: set[str] = set()
        self._edge_sets = 0
        self._precision: dict[tuple[int, int, int], Precision] = {}
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
        self.races = RaceSearch(self.inputs)
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

    def verdict(
        self, blank: Verdict, before: PrimFunc, after: PrimFunc, *, changes_rounding: bool = False
    ) -> Verdict:
        """Compare a function before and after a step, with each executor on each set of inputs.

        Bits must agree, unless the step declares that it ``changes_rounding``; then the result must
        be within the bound of the original function.
        """
        blank = replace(blank, function=self.func.name)
        if self.unusable:
            return replace(blank, status="not known", message=self.unusable)
        self.consider(before, after)
        how = " and ".join(runs.executor.how for runs in self.runs)
        worst = replace(blank, how=how, basis="tested", tried=self.tried)
        race = None
        if self.races is not None:
            scheduling = blank.phase == SCHEDULE
            race = self.races.new_race(before, after, scheduling=scheduling)
        if race is not None:
            self._start = after
            return replace(worst, status="races", message=str(race), how="interpreter")
        for runs in self.runs:
            compared = Comparison(self, runs, before, after, changes_rounding)
            for number, inputs in enumerate(self.inputs):
                verdict = replace(worst, **compared.on(number), inputs=inputs.name)
                if not verdict.ok:
                    if verdict.is_wrong:
                        self._start = after  # A later step is not to blame for this one.
                    return replace(verdict, how=runs.executor.how)
                if verdict.status != worst.status or verdict.error.abs > worst.error.abs:
                    worst = max(worst, verdict, key=_severity)
        return worst

    def consider(self, *versions: PrimFunc) -> None:
        """Add inputs at the edges of the types and constants in versions of the function, unless
        they were added already, or the inputs are given."""
        if self.options.inputs or not self.options.samples or not self.runs:
            return
        new = set[str]().union(*map(_constants, versions)) - self._considered
        first = not self._considered
        count = EDGE_SETS if first else min(1, MAX_EDGE_SETS - self._edge_sets)
        if not (new or first) or not count:
            return
        self._considered |= new | {""}
        self._edge_sets += count
        made: list[InputSet] = []
        with suppress(TooLarge):
            made = edge_inputs(
                (self.func, *versions),
                dims=self.options.dims,
                seed=self.options.seed,
                start=self._edge_sets - count,
                count=count,
            )
        executor = self.runs[0].executor
        for inputs in made:
            if self._runs_quickly(executor, inputs):
                self.inputs.append(inputs)

    def _runs_quickly(
        self, executor: InterpreterExecutor | NativeExecutor, inputs: InputSet
    ) -> bool:
        if isinstance(executor, InterpreterExecutor):
            executor = InterpreterExecutor(EDGE_STEPS)
        try:
            return not executor.run(self.func, inputs.copied()).error
        except StepLimit:
            return False

    @property
    def tried(self) -> str:
        """What the function runs on, for people."""
        kinds = dict.fromkeys(inputs.kind for inputs in self.inputs)
        count = len(self.inputs)
        return f"{count} set{'s' if count != 1 else ''} of inputs: {', '.join(kinds)}"

    def start(self, runs: OutcomeCache, number: int) -> tuple[CallOutcome, list[Array | None]]:
        """Return the outcome of the original function, and by how much each array may differ."""
        key = id(self._start), id(runs), number

        def run(func: PrimFunc, args: list[object]) -> list[Array] | None:
            try:
                outcome = runs.executor.run(func, args)
            except StepLimit:
                return None
            return None if outcome.error else list(outcome.arrays)

        own = runs.outcome(self._start, number)
        if key not in self._precision:
            self._precision[key] = Precision(self._start, self.inputs[number], run)
        return own, self._precision[key].allowed(list(own.arrays))

    def check_native(self, blank: Verdict) -> Iterator[Verdict]:
        """Compare native code with the interpreter on the original function.

        Steps are compared executor by executor, so they would not show a difference between the
        two.
        """
        if len(self.runs) < 2 or self.unusable:
            return
        verdict = replace(
            blank, function=self.func.name, name="code", pass_text="native code", status="same"
        )
        interpreted, native = self.runs
        for number, inputs in enumerate(self.inputs):
            expected = interpreted.outcome(self.func, number)
            found = native.outcome(self.func, number)
            result: dict[str, object] = {"status": "failed", "message": found.error}
            if not found.error:
                limits = self.start(native, number)[1]
                result = difference_of(self.func, expected.arrays, found.arrays, limits)
            made = replace(verdict, **result, inputs=inputs.name, how=native.executor.how)
            if not made.ok:
                yield made
                return
        yield verdict


def _constants(func: PrimFunc) -> set[str]:
    """Return the constants of a function, with their types: they decide what its edges are."""
    return {f"{node.dtype}({node.value})" for node in walk(func, Const)}


def _severity(verdict: Verdict) -> tuple[bool, float]:
    return verdict.status != "same", verdict.error.abs
