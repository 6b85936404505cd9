"""Comparison of a function before and after a step, on one set of inputs after the other."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from irkit.core import any_node, rewrite
from irkit.debug.check.difference import Difference, compare, identical, is_float, same_bits
from irkit.debug.execution.executors import CallOutcome, OutcomeCache
from irkit.debug.execution.inputs import Array
from irkit.ir import Add, Buffer, Expr, Max, Min, Neg, PrimFunc, StepLimit, const


class _Start(Protocol):
    """The function before all steps, which bounds what rounding may change."""

    def start(self, runs: OutcomeCache, number: int) -> tuple[CallOutcome, list[Array | None]]: ...


class Comparison:
    """One step of a function, run by one executor.

    Results are compared bit by bit; NaN equals NaN, and the signs of zeros that come from ``min``
    and ``max`` do not matter. Other bits are right only if the step declares that it
    ``changes_rounding``, and only within the bound of the original function.
    """

    def __init__(
        self,
        subject: _Start,
        runs: OutcomeCache,
        before: PrimFunc,
        after: PrimFunc,
        changes_rounding: bool,
    ) -> None:
        self.subject, self.runs = subject, runs
        self.before, self.after = before, after
        self.changes_rounding = changes_rounding
        self._zeros: list[PrimFunc] | None = None

    def on(self, number: int) -> dict[str, object]:
        """Return fields of a verdict for the inputs of a number."""
        try:
            expected = self.runs.outcome(self.before, number)
        except StepLimit as limit:
            expected = CallOutcome(error=str(limit))
        try:
            found = self.runs.outcome(self.after, number)
        except StepLimit as limit:
            found = CallOutcome(error=f"it does not end: {limit.message}")
        if expected.error:
            message = f"the input of the step fails: {expected.error}"
            return {"status": "not known", "message": message}
        if found.error:
            return {"status": "failed", "message": found.error}
        pairs = zip(expected.arrays, found.arrays, strict=True)
        if all(identical(a, b) for a, b in pairs):
            return {"status": "same"}
        wanted = self._with_zeros_of(number, expected.arrays, found.arrays)
        apart = difference_of(self.before, wanted, found.arrays, [None] * len(wanted))
        if apart["status"] == "same" or not self.changes_rounding:
            return apart
        return self._rounded(number, found)

    def _with_zeros_of(
        self, number: int, expected: Sequence[Array], found: Sequence[Array]
    ) -> list[Array]:
        """Return the expected arrays, with elements of ``found`` that differ only because ``min``
        or ``max`` may give either zero."""
        made = [array.copy() for array in expected]
        if self._zeros is None:
            self._zeros = _with_other_zeros(self.before)
        for other in self._zeros:
            try:
                outcome = self.runs.executor.run(other, self.runs.inputs[number].copied())
            except StepLimit:
                continue
            for array, choice, got in zip(made, outcome.arrays, found, strict=not outcome.error):
                if is_float(array):
                    same = same_bits(choice, got)
                    array[same] = got[same]
        return made

    def _rounded(self, number: int, found: CallOutcome) -> dict[str, object]:
        own, limits = self.subject.start(self.runs, number)
        if own.error:
            return {"status": "not known", "message": f"the original function fails: {own.error}"}
        for array, limit, buffer in zip(own.arrays, limits, _buffers(self.before), strict=True):
            if limit is not None and is_useless(array, limit):
                message = f"rounding can explain any value of {buffer.name!r} on these inputs"
                return {"status": "not known", "message": message}
        result = difference_of(self.before, own.arrays, found.arrays, limits)
        return result | ({"status": "rounds differently"} if result["status"] == "same" else {})


def is_useless(array: Array, limit: Array) -> bool:
    """Return True if a bound on the error of an array says nothing: it is not finite, or larger
    than every value."""
    with np.errstate(all="ignore"):
        sizes = np.abs(array.astype(np.float64))
    finite = np.isfinite(sizes)
    if not finite.any():
        return False
    wide = np.broadcast_to(limit, array.shape)[finite]
    return bool(not np.isfinite(wide).all() or (wide.min() > sizes[finite].max() > 0))


def difference_of(
    func: PrimFunc,
    expected: Sequence[Array],
    found: Sequence[Array],
    limits: Sequence[Array | None],
) -> dict[str, object]:
    """Return the status and the largest difference of the arrays of two calls."""
    worst = Difference()
    for a, b, limit, buffer in zip(expected, found, limits, _buffers(func), strict=True):
        apart = compare(a, b, limit, zeros_have_signs=limit is None)
        if apart.at is not None:
            return {"status": "differs", "error": apart, "buffer": buffer.name}
        worst = max(worst, apart, key=lambda each: each.abs)
    return {"status": "same", "error": worst}


def _buffers(func: PrimFunc) -> list[Buffer]:
    return [param for param in func.params if isinstance(param, Buffer)]


def _with_other_zeros(func: PrimFunc) -> list[PrimFunc]:
    """Return the function with every zero from ``min`` and ``max`` positive, and with every such
    zero negative; nothing if it has none."""

    def extremum_of_floats(node: Expr) -> bool:
        return isinstance(node, (Min, Max)) and node.dtype.is_float

    if not any_node(func, Expr, extremum_of_floats):
        return []

    def positive(node: Expr) -> Expr | None:
        return Add(node, const(0.0, node.dtype), node.dtype) if extremum_of_floats(node) else None

    def negative(node: Expr) -> Expr | None:
        if not extremum_of_floats(node):
            return None
        added = Add(Neg(node, node.dtype), const(0.0, node.dtype), node.dtype)
        return Neg(added, node.dtype)

    return [rewrite(func, positive, on=Expr), rewrite(func, negative, on=Expr)]
