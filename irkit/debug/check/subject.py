"""One function through all its steps: inputs, outcomes and tolerances."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from irkit.debug.check.assertion_search import AssertionSearch
from irkit.debug.check.branch_search import BranchSearch
from irkit.debug.check.comparison import Comparison
from irkit.debug.check.difference import Difference, same_values
from irkit.debug.check.edge_sets import EdgeSets
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.race_search import RaceSearch
from irkit.debug.check.rounding_error.precision import Precision, Runner
from irkit.debug.check.schedule_steps import SCHEDULE
from irkit.debug.check.tried_inputs import describe_inputs
from irkit.debug.check.verdict import Verdict
from irkit.debug.check.well_defined import left_to_chance
from irkit.debug.counterexamples import counterexample_sets
from irkit.debug.execution.executors import (
    MAX_SLOWDOWN,
    CallOutcome,
    InterpreterExecutor,
    NativeExecutor,
    OutcomeCache,
)
from irkit.debug.execution.inputs import INTEGERS, Array, InputSet, TooLarge, input_sets
from irkit.debug.execution.native_worker import NativeWorker
from irkit.debug.execution.sparse_inputs import sparse_sets
from irkit.ir import PrimFunc, StepLimit


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
        self._tried = -1, ""
        self.races: RaceSearch | None = None
        self._precision: Precision | None = None
        self._limits: dict[tuple[int, int, int], list[Array | None]] = {}
        self._settled: set[int] = set()
        self._searched: dict[tuple[int, int], tuple[PrimFunc, PrimFunc]] = {}
        self.assertions = AssertionSearch(InterpreterExecutor(options.max_steps * MAX_SLOWDOWN))
        try:
            self._prepare()
        except StepLimit:
            self._prepare_native()
        except TooLarge as error:
            self.unusable = str(error)
        self._edges = EdgeSets(func, options, self.runs, self.inputs, self.assertions)
        self.branches = BranchSearch(self.runs, self._where_different, self._edges.add)

    def _prepare(self) -> None:
        """Find inputs on which the original function runs."""
        executor = InterpreterExecutor(self.options.max_steps)
        self.inputs = self._usable(executor)
        executor.max_steps *= MAX_SLOWDOWN  # The result of a pass may take longer, within limits.
        self.runs = [OutcomeCache(executor, self.inputs)]
        self.races = RaceSearch(self.inputs)

    def _prepare_native(self) -> None:
        if self.options.native is False:
            self.unusable = "it takes too long to interpret, and native code is off"
            return
        executor = NativeExecutor(self.worker)
        self.inputs = self._usable(executor)
        self.runs = [OutcomeCache(executor, self.inputs)]
        self.races = RaceSearch(self.inputs, thorough=False)

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
            for each, outcome in zip(made, outcomes, strict=True):
                self.assertions.note(self.func, each, outcome)
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
        be within the bound of the original function. A set of inputs for which that bound says
        nothing does not end the search.
        """
        blank = replace(blank, function=self.func.name)
        if self.unusable:
            lost = self.assertions.broken(before, after)
            unknown = {"status": "not known", "message": self.unusable}
            return replace(blank, **(unknown if lost is None else lost))
        self.consider(before, after)
        how = " and ".join(runs.executor.how for runs in self.runs)
        branches = self.branches.without_effect((before, after))
        worst = replace(blank, how=how, basis="tested", tried=self.tried, branches=branches)
        scheduling, unknown = blank.phase == SCHEDULE, None
        if self.races is not None:
            given = self.races.given_race(before)
            if given is not None:
                message = f"the input of the step races: {given}"
                return replace(blank, status="not known", message=message)
            race = self.races.new_race(before, after, scheduling=scheduling)
            worst = replace(worst, orders=self.races.orders(before, after, scheduling=scheduling))
            if race is not None:
                self._start = after
                return replace(worst, status="races", message=str(race), how="interpreter")
        for runs in self.runs:
            compared = Comparison(self, runs, before, after, changes_rounding)
            for number, inputs in enumerate(self.inputs):
                if number in self._settled:
                    continue
                verdict = replace(worst, **compared.on(number), inputs=inputs.name)
                if verdict.is_wrong:
                    self._start = after  # A later step is not to blame for this one.
                    return replace(verdict, how=runs.executor.how)
                if not verdict.ok:
                    unknown = unknown or replace(verdict, how=runs.executor.how)
                elif verdict.status != worst.status or verdict.error.abs > worst.error.abs:
                    worst = max(worst, verdict, key=_severity)
        lost = self.assertions.broken(before, after)
        if lost is not None:
            self._start = after
            return replace(worst, **lost)
        if self.races is not None:
            turned = self.races.order_matters(self.runs[0], before, after, scheduling=scheduling)
            if turned is not None:
                self._start = after
                return replace(worst, **turned)
        if unknown is None or worst.status != "same":
            return worst
        return self._decided(unknown, before, after) if changes_rounding else unknown

    def _decided(self, unknown: Verdict, before: PrimFunc, after: PrimFunc) -> Verdict:
        """Compare a step that rounds otherwise on sparse inputs, of which more is known; return the
        verdict that was if they do not decide it."""
        (runs,), worst = self.runs, unknown
        if not self.options.samples or self.options.inputs:
            return unknown
        compared = Comparison(self, runs, before, after, True)
        dims, seed = self.options.dims, self.options.seed
        for inputs in sparse_sets(self.func, dims=dims, seed=seed):
            if not self._edges.add(inputs):
                continue
            number = len(self.inputs) - 1
            blank = replace(unknown, message="", error=Difference(), buffer="")
            made = replace(blank, **compared.on(number), inputs=inputs.name)
            if made.is_wrong:
                self._start = after
                return replace(made, how=runs.executor.how)
            expected = runs.outcome(before, number).arrays
            if made.ok and any(map(np.any, expected)) and made.error.abs >= worst.error.abs:
                worst = replace(made, status="rounds differently")
        return worst if worst is unknown else replace(worst, tried=self.tried, inputs="")

    def verdict_on(
        self, inputs: InputSet, verdict: Verdict, before: PrimFunc, after: PrimFunc
    ) -> Verdict:
        """Compare a function before and after a step on one more set of inputs; return the verdict
        that was if there is no difference, or if the original function does not run quickly."""
        if not self.runs or not self._edges.add(inputs):
            return verdict
        rounds = verdict.status == "rounds differently"
        for runs in self.runs:
            compared = Comparison(self, runs, before, after, rounds).on(len(self.inputs) - 1)
            made = replace(verdict, **compared, inputs=inputs.name, how=runs.executor.how)
            if made.is_wrong:
                self._start = after
                return made
        return verdict

    def settle(self, versions: Sequence[PrimFunc]) -> None:
        """Compare the first and the last of all versions; where these have the same bits, those
        between need not run on more than the first set of inputs."""
        if self.unusable or len(versions) < 3:
            return
        first, last = versions[0], versions[-1]
        for before, after in pairwise(versions):
            self.consider(before, after)
        comparisons = [Comparison(self, runs, first, last, False) for runs in self.runs]
        self._settled = {
            number
            for number in range(1, len(self.inputs))
            if all(each.on(number)["status"] == "same" for each in comparisons)
        }

    def consider(self, before: PrimFunc, after: PrimFunc) -> None:
        """Add inputs at the edges of the types and constants of a step, and counterexamples of the
        expressions that it changed, unless they were added already, or the inputs are given."""
        if not self.runs or not self.options.samples or self.options.inputs:
            return
        self.assertions.next_step()
        self._edges.consider(before, after)
        if (id(before), id(after)) not in self._searched:
            self._searched[id(before), id(after)] = before, after
            for inputs in self._where_different(before, after):
                self._edges.add(inputs)
            for func in (before, after):
                self.branches.consider(func)

    def _where_different(self, before: PrimFunc, after: PrimFunc) -> Iterator[InputSet]:
        dims, seed = self.options.dims, self.options.seed
        return counterexample_sets(self.func, before, after, dims=dims, seed=seed)

    def carries_on(self, made: Verdict, before: PrimFunc, after: PrimFunc) -> bool:
        """Return True if a verdict that is not right says only what the stage before the step has
        wrong: that it does not run, races, or leaves the elements that differ to chance."""
        if made.status != "differs" and self.races is not None and self.races.has_race(before):
            return True
        named = [at for at, each in enumerate(self.inputs) if each.name == made.inputs]
        return any(
            self._is_by_chance(made, before, after, at) for at in named or range(len(self.inputs))
        )

    def _is_by_chance(self, made: Verdict, before: PrimFunc, after: PrimFunc, number: int) -> bool:
        (runs,) = self.runs
        try:
            expected = runs.outcome(before, number)
            if expected.error or not isinstance(runs.executor, InterpreterExecutor):
                return bool(expected.error)
            most = runs.executor.max_steps
            chance = left_to_chance(before, self.inputs[number].copied(), max_steps=most)
            if chance is None or made.status != "differs":
                return chance is None or any(map(np.any, chance))
            arrays = expected.arrays, runs.outcome(after, number).arrays, chance
        except StepLimit:
            return True
        return not any(np.any(~same_values(a, b) & ~c) for a, b, c in zip(*arrays, strict=True))

    @property
    def tried(self) -> str:
        """What the function runs on, for people."""
        if self._tried[0] != len(self.inputs):
            self._tried = len(self.inputs), describe_inputs(self.func, self.inputs)
        left, shown = len(self.inputs) - len(self._settled), self._tried[1]
        return f"{left}, and with all steps together on {shown}" if self._settled else shown

    def start(self, runs: OutcomeCache, number: int) -> tuple[CallOutcome, list[Array | None]]:
        """Return the outcome of the original function, and by how much each array may differ."""
        own = runs.outcome(self._start, number)
        key = id(self._start), id(runs), number
        if key not in self._limits:
            if self._precision is None or self._precision.func is not self._start:
                self._precision = Precision(self._start)
            self._limits[key] = self._precision.allowed(
                self.inputs[number], own.arrays, _runner(runs)
            )
        return own, self._limits[key]


def _runner(runs: OutcomeCache) -> Runner:
    def run(func: PrimFunc, args: list[object]) -> list[Array] | None:
        try:
            outcome = runs.executor.run(func, args)
        except StepLimit:
            return None
        return None if outcome.error else list(outcome.arrays)

    return run


def _severity(verdict: Verdict) -> tuple[bool, float]:
    return verdict.status != "same", verdict.error.abs
