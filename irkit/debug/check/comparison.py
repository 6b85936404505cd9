"""Comparison of a function before and after a step, on one set of inputs after the other."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from irkit.debug.check.difference import Difference, compare, identical, is_float, same_bits
from irkit.debug.check.permitted_values import PermittedValues
from irkit.debug.execution.executors import CallOutcome, OutcomeCache
from irkit.debug.execution.inputs import Array
from irkit.ir import Buffer, PrimFunc, StepLimit


class _Start(Protocol):
    """The function before all steps, which bounds what rounding may change."""

    def start(self, runs: OutcomeCache, number: int) -> tuple[CallOutcome, list[Array | None]]: ...


class Comparison:
    """One step of a function, run by one executor.

    Results are compared bit by bit; NaN equals NaN. They must be what the function before may
    compute (``permitted_values``). Other bits are right only if the step declares that it
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
        self.permitted = PermittedValues(before, after, runs)

    def on(self, number: int) -> dict[str, object]:
        """Return fields of a verdict for the inputs of a number."""
        try:
            expected = self.runs.outcome(self.before, number)
        except StepLimit as limit:
            expected = CallOutcome(error=str(limit))
        try:
            found = self.runs.outcome(self.after, number)
        except StepLimit as limit:
            text = f"it does not end: {limit.message}, and took {expected.steps:,} before this step"
            found = CallOutcome(error=text, stopped=True)
        if expected.error:
            message = f"the input of the step fails: {expected.error}"
            return {"status": "not known", "message": message}
        if found.error:
            status = "out of bounds" if found.outside else "failed"
            return {"status": status, "message": found.error, "stopped": found.stopped}
        pairs = zip(expected.arrays, found.arrays, strict=True)
        if all(identical(a, b) for a, b in pairs):
            exceeded = "" if self.changes_rounding else self.permitted.exceeded(number)
            return {"status": "failed", "message": exceeded} if exceeded else {"status": "same"}
        wanted = self.permitted.of(number, found.arrays)
        apart = difference_of(self.before, wanted, found.arrays, [None] * len(wanted))
        if apart["status"] == "same" or not self.changes_rounding:
            return apart
        return self._rounded(number, found)

    def _rounded(self, number: int, found: CallOutcome) -> dict[str, object]:
        """Compare with the original function, each element within its bound. Where a bound says
        nothing, only a difference beyond it counts; so an array may differ only there, and then it
        is not known whether it is right."""
        own, limits = self.subject.start(self.runs, number)
        if own.error:
            return {"status": "not known", "message": f"the original function fails: {own.error}"}
        unknown, verified, got = "", False, list(found.arrays)
        for at, (array, limit) in enumerate(zip(own.arrays, limits, strict=True)):
            if limit is not None:
                other = _differ(array, got[at])
                lost = other & np.isinf(limit)
                useless = other & is_useless(array, limit)
                got[at] = np.where(lost, array, got[at]).astype(array.dtype)
                verified |= bool((other & ~useless).any())
                if useless.any():
                    unknown = unknown or _buffers(self.before)[at].name
        result = difference_of(self.before, own.arrays, got, limits)
        if result["status"] != "same":
            return result
        if unknown and not verified:
            message = f"rounding can explain any value of {unknown!r} on these inputs"
            return {"status": "not known", "message": message}
        return result | {"status": "rounds differently"}


def _differ(a: Array, b: Array) -> Array:
    """Return where arrays hold different numbers; zeros are equal, and NaN equals NaN."""
    if not is_float(a):
        return np.asarray(a != b)
    return np.asarray(~same_bits(a, b) & (a != b))


def is_useless(array: Array, limit: Array) -> Array:
    """Return where a bound on the error of an element says nothing: it is not finite, or larger
    than the value."""
    with np.errstate(all="ignore"):
        sizes = np.abs(array.astype(np.float64))
        return np.asarray(~np.isfinite(limit) | ((limit > sizes) & (limit > 0)))


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
