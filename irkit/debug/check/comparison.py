"""Comparison of a function before and after a step, on one set of inputs after the other."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
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

    Results are compared bit by bit; NaN equals NaN, and signs of zeros that come from ``min`` and
    ``max``, before or after, do not matter. Other bits are right only if the step declares that it
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
        self._zeros: tuple[list[PrimFunc], list[PrimFunc]] | None = None

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
            return {"status": "same"}
        wanted = self._with_zeros_of(number, expected.arrays, found.arrays)
        apart = difference_of(self.before, wanted, found.arrays, [None] * len(wanted))
        if apart["status"] == "same" or not self.changes_rounding:
            return apart
        return self._rounded(number, found)

    def _with_zeros_of(
        self, number: int, expected: Sequence[Array], found: Sequence[Array]
    ) -> list[Array]:
        if self._zeros is None:
            self._zeros = with_other_zeros(self.before), with_other_zeros(self.after)
        wanted = _outcomes(self._zeros[0], self.runs, number)
        got = _outcomes(self._zeros[1], self.runs, number)
        return _reconciled([expected, *wanted], [found, *got])

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


def with_equal_zeros(
    func: PrimFunc, number: int, expected: OutcomeCache, found: OutcomeCache
) -> list[Array]:
    """Return what one executor makes of a function, with elements of what another one does that
    differ only because ``min`` or ``max`` may give either zero."""
    zeros = with_other_zeros(func)
    wanted = [expected.outcome(func, number).arrays, *_outcomes(zeros, expected, number)]
    return _reconciled(
        wanted, [found.outcome(func, number).arrays, *_outcomes(zeros, found, number)]
    )


def _outcomes(
    funcs: Sequence[PrimFunc], runs: OutcomeCache, number: int
) -> Iterator[Sequence[Array]]:
    for func in funcs:
        with suppress(StepLimit):
            outcome = runs.executor.run(func, runs.inputs[number].copied())
            if not outcome.error:
                yield outcome.arrays


def _reconciled(wanted: Sequence[Sequence[Array]], got: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the first of the wanted results, with those elements of the first result that any
    choice of zeros on both sides makes equal."""
    made = [array.copy() for array in wanted[0]]
    for one, other in product(wanted, got):
        for array, a, b, own in zip(made, one, other, got[0], strict=True):
            same = same_bits(a, b) if is_float(a) else np.asarray(a == b)
            array[same] = own[same]
    return made


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


def with_other_zeros(func: PrimFunc) -> list[PrimFunc]:
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
