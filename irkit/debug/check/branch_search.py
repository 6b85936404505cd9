"""Branches that decided a result: each is fixed to one of its sides, and the function runs again.

A branch matters if results change with either side alone. One that never did on the inputs tried,
such as one that is never taken, says nothing about what stands in it. For such a branch more inputs
are drawn, on which it should matter; those that still do not are counted.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from irkit.debug.check.difference import identical
from irkit.debug.execution.decisions import Decision, decided, decisions
from irkit.debug.execution.executors import InterpreterExecutor, OutcomeCache
from irkit.debug.execution.inputs import InputSet
from irkit.ir import PrimFunc, StepLimit

MOST_BRANCHES = 12
"""Branches of one function that are fixed."""
MOST_STEPS = 30_000
"""Steps of the interpreter for all of them."""
SPARE_STEPS = 5_000
"""What the other branch may take longer."""

Draw = Callable[[PrimFunc, PrimFunc], Iterator[InputSet]]
"""Inputs on which two versions of a function differ."""


class BranchSearch:
    """The branches of one function through all its steps, and whether each decided a result.

    A branch is ``min``, ``max``, a choice or a statement ``if`` that depends on data.
    """

    def __init__(
        self, runs: Sequence[OutcomeCache], draw: Draw, add: Callable[[InputSet], bool]
    ) -> None:
        self.runs, self.draw, self.add = runs, draw, add
        self._known: dict[tuple[Decision, bool], _Side] = {}
        self._left = MOST_STEPS

    def consider(self, func: PrimFunc) -> None:
        """Try the branches of a version that never mattered on the inputs that are new; draw more
        for those that still do not."""
        if not self.runs or not isinstance(self.runs[0].executor, InterpreterExecutor):
            return
        for branch in decisions(func)[:MOST_BRANCHES]:
            for way in (False, True):
                side = self._known.setdefault((branch, way), _Side())
                if side.matters or len(self.runs[0].inputs) == side.tried:
                    continue
                fixed = decided(func, branch, way)
                self._try(func, fixed, side)
                if not side.matters and not side.drawn and self._left > 0:
                    side.drawn = True
                    for inputs in self.draw(func, fixed):
                        self.add(inputs)
                    self._try(func, fixed, side)

    def without_effect(self, versions: Sequence[PrimFunc]) -> int:
        """Return how many branches of some versions never mattered; one for which there was no time
        is not counted."""
        found = {branch for func in versions for branch in decisions(func)[:MOST_BRANCHES]}
        sides = [
            [self._known.get((branch, way), _Side()) for way in (False, True)] for branch in found
        ]
        return sum(any(side.drawn and not side.matters for side in pair) for pair in sides)

    def _try(self, func: PrimFunc, fixed: PrimFunc, side: "_Side") -> None:
        while side.tried < len(self.runs[0].inputs) and not side.matters and self._left > 0:
            side.matters = self._differs(func, fixed, side.tried)
            side.tried += 1

    def _differs(self, func: PrimFunc, fixed: PrimFunc, number: int) -> bool:
        runs = self.runs[0]
        executor = runs.executor
        assert isinstance(executor, InterpreterExecutor)
        try:
            usual = runs.outcome(func, number)
            if usual.error:
                return False
            limit = 2 * usual.steps + SPARE_STEPS
            other = executor.run(fixed, runs.inputs[number].copied(), limit)
        except StepLimit:
            self._left -= SPARE_STEPS
            return True
        self._left -= other.steps
        if other.error:
            return True
        return not all(map(identical, usual.arrays, other.arrays))


class _Side(msgspec.Struct):
    """One way a branch can go: whether results change if it always does, on how many sets of inputs
    that was tried, and whether inputs were drawn for it."""

    matters: bool = False
    tried: int = 0
    drawn: bool = False
