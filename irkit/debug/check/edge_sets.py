"""Sets of inputs at the edges, as many as the budget of steps of a check allows."""

from collections.abc import Sequence
from itertools import islice

import numpy as np

from irkit.core import walk
from irkit.debug.check.assertion_search import AssertionSearch
from irkit.debug.check.difference import identical
from irkit.debug.check.options import CheckOptions
from irkit.debug.execution.decisions import decisions
from irkit.debug.execution.edge_inputs import EdgeInputs
from irkit.debug.execution.edge_sizes import size_conditions
from irkit.debug.execution.edge_values import edges_of, index_types
from irkit.debug.execution.executors import CallOutcome, InterpreterExecutor, OutcomeCache
from irkit.debug.execution.inputs import InputSet, size_vars
from irkit.ir import Block, Buffer, DType, Expr, PrimFunc, StepLimit, Store

FIRST_STEPS, LATER_STEPS, MOST_STEPS = 100_000, 20_000, 240_000
"""Steps of the interpreter for the first step of a trace, each later one that brings constants, and
all of them, in a check with the usual number of samples."""
USUAL_SAMPLES = 4
COST_OF_SET = 500
"""What it costs to make, copy and compare a set, in steps."""
LARGEST_SHARE = 4
"""A single set may take no more than this part of the steps, if sets take unlike many."""
LONGEST_STEPS = 500_000
"""Steps of a set that is as long as the limits of a narrow type ask for."""
ODD_STEPS = 14_000
"""Steps of sets with an odd element in each row, for each step that brings constants: sets of small
functions, and few of large ones, whose arrays hold many rows."""
FIRST_CALLS, LATER_CALLS, MOST_CALLS = 3, 1, 6
"""Sets for a function that takes too long to interpret: for the first step of a trace, each later
one that brings constants, and all of them."""


class EdgeSets:
    """The inputs at the edges of one function, added to ``inputs`` step by step."""

    def __init__(
        self,
        func: PrimFunc,
        options: CheckOptions,
        runs: Sequence[OutcomeCache],
        inputs: list[InputSet],
        assertions: AssertionSearch,
    ) -> None:
        self.func, self.options, self.runs, self.inputs = func, options, runs, inputs
        self.assertions = assertions
        self._constants: set[int | float] | None = None
        self._narrow: set[DType] = set()
        self._conditions: set[Expr] = set()
        self._number = self._calls = 0
        # Who asks for few samples checks many programs, and covers the edges by them all.
        self._share = min(1.0, (options.samples / USUAL_SAMPLES) ** 2)
        self._left = int(MOST_STEPS * self._share)
        self._dims = [var for var in size_vars(func) if var.name not in options.dims]
        self._started = _started_by_blocks(func)

    def consider(self, before: PrimFunc, after: PrimFunc) -> None:
        """Add inputs for the types, constants and conditions on sizes of a step that were not met
        before."""
        first = self._constants is None
        known = self._constants or set()
        edges = edges_of((before, after), frozenset(known))
        types = index_types(before) ^ index_types(after)
        narrow = sorted((t for t in types - self._narrow if t.bits <= 16), key=str)
        found = size_conditions((before, after), self._dims)
        conditions = [each for each in found if each not in self._conditions]
        if not (first or edges.fresh or narrow or conditions):
            return
        self._conditions.update(conditions)
        self._constants = known | set(edges.constants)
        self._narrow |= types
        made = EdgeInputs(
            self.func,
            edges,
            dims=self.options.dims,
            seed=self.options.seed,
            narrow=narrow,
            conditions=conditions,
            start=self._number,
            fresh_only=not first,
        )
        executor = self.runs[0].executor
        if isinstance(executor, InterpreterExecutor):
            budget = int((FIRST_STEPS if first else LATER_STEPS) * self._share)
            self._add(made, min(budget, self._left))
            if self._decides(before, after):
                self._add_odd_rows(made)
        else:
            count = min(FIRST_CALLS if first else LATER_CALLS, MOST_CALLS - self._calls)
            self._calls += count
            for inputs in islice(made, count):
                self._keep(inputs, executor.run(self.func, inputs.copied()))
        self._number = made.number

    def add(self, inputs: InputSet) -> bool:
        """Add a set that was made elsewhere, if the function runs on it, without an error and
        quickly; one that fails by an assertion is kept apart."""
        executor = self.runs[0].executor
        try:
            if isinstance(executor, InterpreterExecutor):
                outcome = executor.run(self.func, inputs.copied(), FIRST_STEPS)
            else:
                outcome = executor.run(self.func, inputs.copied())
        except StepLimit:
            return False
        self.assertions.note(self.func, inputs, outcome, aimed=True)
        if not outcome.error:
            self.runs[0].remember(self.func, len(self.inputs), outcome)
            self.inputs.append(inputs)
        return not outcome.error

    def _leaves_results_open(self, inputs: InputSet, outcome: CallOutcome) -> bool:
        """Return True if a result is what its array held before, as a block leaves it that would
        initialise it if its reduction were not empty: schedules may initialise it all the same."""
        if not self._started or all(np.size(arg) for arg in inputs.args):
            return False
        args = inputs.copied()
        for param, arg in zip(self.func.params, args, strict=True):
            if param in self._started:
                arg[...] = np.where(arg == 1, 0, 1).astype(arg.dtype)
        again = self.runs[0].executor.run(self.func, args)
        pairs = zip(outcome.arrays, again.arrays, strict=not again.error)
        return not all(identical(a, b) for a, b in pairs)

    def _add(self, made: EdgeInputs, budget: int) -> None:
        executor = self.runs[0].executor
        assert isinstance(executor, InterpreterExecutor)
        whole = int(FIRST_STEPS * self._share)
        share = LARGEST_SHARE if made.sizes or made.steers else 1
        for inputs in made:
            limit = LONGEST_STEPS if made.is_long else min(whole // share, budget)
            try:
                outcome = executor.run(self.func, inputs.copied(), limit)
            except StepLimit:
                if share == 1:
                    return  # The others take as long.
                made.took_too_long()
                outcome = CallOutcome(error="too long", steps=limit // LARGEST_SHARE)
            self._keep(inputs, outcome)
            cost = (0 if made.is_long else outcome.steps) + COST_OF_SET
            budget, self._left = budget - cost, self._left - cost
            if budget <= 0:
                return

    def _decides(self, before: PrimFunc, after: PrimFunc) -> bool:
        """Return True if data decides something, in a version of the function."""
        return bool(decisions(before) or decisions(after))

    def _add_odd_rows(self, made: EdgeInputs) -> None:
        """Add sets of rows with an odd one, which cost a budget of their own."""
        executor, left = self.runs[0].executor, int(ODD_STEPS * self._share)
        assert isinstance(executor, InterpreterExecutor)
        for inputs in made.odd_rows():
            try:
                outcome = executor.run(self.func, inputs.copied(), left)
            except StepLimit:
                return
            self._keep(inputs, outcome)
            left -= outcome.steps
            if left <= 0:
                return

    def _keep(self, inputs: InputSet, outcome: CallOutcome) -> None:
        self.assertions.note(self.func, inputs, outcome)
        if not outcome.error and not self._leaves_results_open(inputs, outcome):
            self.runs[0].remember(self.func, len(self.inputs), outcome)
            self.inputs.append(inputs)


def _started_by_blocks(func: PrimFunc) -> set[Buffer]:
    """Return the parameters that blocks of reductions initialise."""
    starts = [block.init for block in walk(func, Block) if block.init is not None]
    stored = {store.buffer for init in starts for store in walk(init, Store)}
    return {param for param in func.params if isinstance(param, Buffer) and param in stored}
