"""What a search asks of a measurement, and what it gets."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from irkit.tune.records import Built, MachineHere, Measured, Values, VerdictKind
from irkit.tune.space import Task

Worth = Callable[[Values, Built], bool]
"""Returns False for a candidate that was built, but need not be raced: it is skipped."""


class TrialOutcome(msgspec.Struct, frozen=True):
    """What became of a candidate. ``trace`` is the JSON of its schedule, of a finalist."""

    verdict: VerdictKind
    build: Built = Built()
    checked: str = ""
    message: str = ""
    measure: Measured | None = None
    machine: MachineHere | None = None
    worker: str = ""
    trace: bytes = b""


class Session(Protocol):
    """Measurements about one task."""

    def run(
        self,
        batch: Sequence[Values],
        against: Values,
        *,
        full: bool = False,
        seconds: float = 0.1,
        deadline: float | None = None,
        counted: bool = False,
        worth: Worth | None = None,
    ) -> list[TrialOutcome]:
        """Return the outcome of each candidate of a batch, in order, beside another one.

        ``full`` compiles with all of LLVM's passes, and stops no race early; ``counted`` counts the
        instructions of each; ``worth`` is asked in this process, if anything is built here. Units:
        seconds of a race; ``deadline`` is a time of ``time.monotonic`` after which nothing begins.
        """
        ...


class Measure(Protocol):
    """A way to measure: on this machine, on others, or from records."""

    def session(self, task: Task) -> AbstractContextManager[Session]:
        """Begin to measure candidates of a task."""
        ...
