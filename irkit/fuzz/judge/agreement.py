"""Comparison of what a tier computed with what is expected."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.debug import compare, is_float
from irkit.fuzz.generators.sample import Array, Sample, Tolerance
from irkit.ir import Buffer, PrimFunc


class ExpectedResults:
    """The arrays of a loop function after a call, for each set of inputs.

    Results are those of NumPy, or those that the function itself computes as drawn, if NumPy has
    none; other arrays must be what the function as drawn leaves in them.
    """

    def __init__(self, sample: Sample, func: PrimFunc) -> None:
        self.names = [param.name for param in func.params]
        self.arrays = [at for at, p in enumerate(func.params) if isinstance(p, Buffer)]
        self.outputs = sample.outputs
        self.signs = sample.zeros_have_signs
        self.sample = sample
        self._wanted: dict[tuple[int, int], tuple[Any, Tolerance]] = {}

    def learn(self, number: int, args: Sequence[Any]) -> str:
        """Record what the drawn function left in its arguments; return where NumPy disagrees."""
        self.expect(number, args)
        return self.disagreement(number, args)

    def expect(self, number: int, args: Sequence[Any]) -> None:
        """Record what must be found in the arguments after a call, and in outputs if NumPy has not
        computed them."""
        expected, allowed = self.sample.expected[number], self.sample.allowed[number]
        for at in self.arrays:
            self._wanted[number, at] = np.array(args[at]), None
        for place, at in enumerate(self.outputs):
            limit = allowed[place] if allowed else None
            value = args[at] if expected is None else expected[place]
            self._wanted[number, at] = np.array(value), limit

    def adopt(self, number: int, args: Sequence[Any]) -> None:
        """Expect what a call left in its arguments, within the same tolerances."""
        for at in self.arrays:
            _, allowed = self._wanted[number, at]
            self._wanted[number, at] = np.array(args[at]), allowed

    def disagreement(self, number: int, args: Sequence[Any]) -> str:
        """Return which element is wrong after a call, or None."""
        for at in self.arrays:
            wanted, allowed = self._wanted[number, at]
            found = difference(wanted, args[at], allowed, signs=self.signs)
            if found:
                inputs = self.sample.inputs[number].name
                return f"{self.names[at]}{found} (inputs: {inputs})"
        return ""


def difference(expected: Array, found: Array, allowed: Tolerance, *, signs: bool = False) -> str:
    """Return where two arrays differ by more than is allowed, or None."""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return (
            f" is {found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
        )
    if _equal(expected, found, signs):
        return ""
    limit = None if allowed is None else np.broadcast_to(np.asarray(allowed), expected.shape)
    difference = compare(expected, found, limit, zeros_have_signs=signs)
    if difference.at is None:
        return ""
    at = ", ".join(map(str, difference.at))
    return f"[{at}] is {difference.found}, expected {difference.expected}"


def _equal(expected: Array, found: Array, signs: bool) -> bool:
    """Return True if arrays are equal, which is mostly so and quick to see."""
    with np.errstate(all="ignore"):
        if not bool(np.all(expected == found)):
            return False
    return not signs or not is_float(expected)
