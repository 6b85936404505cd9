"""Switches between an original expression and its mutants, in the process that runs them.

Changed source calls `SWITCHES.choose` in place of an expression that mutants change. With no mutant
on, it returns the original value. While it records, it also computes what each mutant would give,
from the values of the parts that both have in common, so that nothing runs twice: a mutant that
gives another value is infected. Where that cannot be known without running more, it counts as
infected too.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

SWITCHES_NAME = "__irkit_switches__"
"""The name of the switches in changed source."""

Thunk = Callable[[], Any]
Parts = Callable[[int, Thunk, bool], Any]
"""Returns the value of a part of an expression: its number, how to compute it, and whether that is
free of side effects."""
Form = Callable[[Parts], Any]
NONE = -1


class Switches:
    """Which mutant is on, and while it records, which mutants are reached and infected."""

    def __init__(self) -> None:
        self.active = NONE
        self.recording = False
        self.reached: set[int] = set()
        self.infected: set[int] = set()
        self.ignored: set[int] = set()
        """Mutants of which nothing more is to be known."""

    def choose(
        self, numbers: Sequence[int], original: Form, mutants: Sequence[Form], truth: bool = False
    ) -> Any:
        """Return the value of an expression, or that of the mutant which is on. With ``truth``, all
        that matters of a value is whether it is true."""
        if self.active in numbers:
            return mutants[numbers.index(self.active)](_computed)
        if not self.recording:
            return original(_computed)
        self.reached.update(numbers)
        asked = [
            (number, form)
            for number, form in zip(numbers, mutants, strict=True)
            if number not in self.infected and number not in self.ignored
        ]
        if not asked:
            return original(_computed)
        parts = _KeptParts()
        value = original(parts)
        parts.complete = True
        for number, form in asked:
            if not self._gives(value, form, parts, truth):
                self.infected.add(number)
        return value

    def is_on(self, number: int) -> bool:
        """Return True if a mutant of a statement is on; to be reached is to be infected."""
        if self.recording:
            self.reached.add(number)
            self.infected.add(number)
        return self.active == number

    def _gives(self, value: Any, form: Form, parts: "_KeptParts", truth: bool) -> bool:
        """Return True if a mutant gives the same value. It may raise, which is something else."""
        self.recording = False
        try:
            found = form(parts)
            return bool(value) == bool(found) if truth else alike(value, found)
        except Exception:
            return False
        finally:
            self.recording = True

    @contextmanager
    def watching(self) -> Generator[None]:
        """Record what is reached and infected."""
        self.reached, self.infected, self.recording = set(), set(), True
        try:
            yield
        finally:
            self.recording = False


class _NotComputed(Exception):
    """Raised for a part that the original expression did not compute."""


class _KeptParts:
    """The values of the parts of one expression, kept for its mutants."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}
        self.complete = False

    def __call__(self, number: int, compute: Thunk, pure: bool) -> Any:
        if number in self._known:
            return self._known[number]
        if self.complete and not pure:
            raise _NotComputed
        value = self._known[number] = compute()
        return value


def _computed(number: int, compute: Thunk, pure: bool) -> Any:
    return compute()


def alike(value: Any, found: Any) -> bool:
    """Return True if two values are of the same type and equal; an array is, if its elements are.

    Zeros of different signs are not.
    """
    if value is found:
        return True
    if type(value) is not type(found):
        return False
    if isinstance(value, float):
        return str(value) == str(found)
    return bool(np.all(value == found))


SWITCHES = Switches()
