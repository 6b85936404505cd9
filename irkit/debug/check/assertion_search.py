"""Inputs on which an assertion fails, and what a step makes of them.

Where the function before fails by an assertion, the one after fails too, by an assertion that the
function before also violates. The text of the message, and what was stored until then, are free.
Any other failure before, such as an access out of bounds, says nothing.
"""

from collections import Counter

from irkit.core import any_node, equal, rewrite, walk
from irkit.debug.execution.executors import CallOutcome, InterpreterExecutor, OutcomeCache
from irkit.debug.execution.inputs import InputSet
from irkit.ir import Assert, PrimFunc, StepLimit, Stmt, seq

MOST_SETS, MOST_OF_ONE = 96, 6
"""Sets that are kept: in all, and for each assertion in one step."""


class AssertionSearch:
    """The sets of inputs, of those that were tried, on which assertions of a function fail."""

    def __init__(self, executor: InterpreterExecutor) -> None:
        self.inputs: list[InputSet] = []
        self.runs = OutcomeCache(executor, self.inputs)
        self._counts = Counter[int]()

    def next_step(self) -> None:
        """Make room for the inputs that another step brings."""
        self._counts.clear()

    def note(
        self, func: PrimFunc, inputs: InputSet, outcome: CallOutcome, *, aimed: bool = False
    ) -> None:
        """Keep a set of inputs if an assertion fails on it, and few others are like it, or if it
        was ``aimed`` at what a step changed."""
        failed = outcome.assertion
        if failed is None or len(self.inputs) >= MOST_SETS:
            return
        self._counts[id(failed)] += not aimed
        if aimed or self._counts[id(failed)] <= MOST_OF_ONE:
            self.runs.remember(func, len(self.inputs), outcome)
            self.inputs.append(inputs)

    def broken(self, before: PrimFunc, after: PrimFunc) -> dict[str, object] | None:
        """Return fields of a verdict if a step loses an assertion that fails."""
        if not self.inputs or not any_node(before, Assert):
            return None
        for number, inputs in enumerate(self.inputs):
            try:
                failed = self.runs.outcome(before, number).assertion
                if failed is None:
                    continue
                lost = self._lost(before, failed, self.runs.outcome(after, number), number)
            except StepLimit:
                continue
            if lost:
                how = self.runs.executor.how
                return {"status": "failed", "message": lost, "inputs": inputs.name, "how": how}
        return None

    def _lost(self, before: PrimFunc, failed: Assert, found: CallOutcome, number: int) -> str:
        old = f"before this step, assertion {failed.message!r} fails on these inputs"
        if found.assertion is None:
            return f"{old}; after it, {found.error or 'none does'}"
        if self._holds(before, found.assertion, number):
            return f"{old}; after it, {found.assertion.message!r} fails, which holds before"
        return ""

    def _holds(self, before: PrimFunc, assertion: Assert, number: int) -> bool:
        """Return True if an assertion is one of the function before, and does not fail there when
        it is the only one."""
        alike = {id(each) for each in walk(before, Assert) if equal(each.cond, assertion.cond)}
        if not alike:
            return False

        def alone(stmt: Assert) -> Stmt | None:
            return None if id(stmt) in alike else seq()

        made = self.runs.executor.run(
            rewrite(before, alone, on=Assert), self.runs.inputs[number].copied()
        )
        return not made.error
