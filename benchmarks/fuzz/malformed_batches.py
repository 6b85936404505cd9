"""Malformed files of each kind by number; many are checked in a child process, and the verdicts
counted."""

import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal

import msgspec

from benchmarks.fuzz.malformed_traces import load_trace
from benchmarks.fuzz.trace_cases import trace_case
from irkit.fuzz.generators import malformed_model, malformed_text, onnx_seeds
from irkit.fuzz.judge import FileStatus, InputVerdict, check_model, read_text, run_model
from irkit.fuzz.picks import picks_of
from irkit.processes import ONE_THREAD, Child, ChildDied, Limits

LIMITS = Limits(seconds=90.0, memory=2 << 30)
"""Limits of a batch; one that exceeds them is checked file by file."""
_BATCH = 25
_SHOWN = 5
"""Number of examples kept of each outcome."""

MalformedKind = Literal["text", "onnx", "trace"]
MALFORMED_KINDS: tuple[MalformedKind, ...] = ("text", "onnx", "trace")
Attempt = Callable[[bytes], InputVerdict]
"""The check of a file in the child; a function at the top of a module."""


def malformed_case(kind: MalformedKind, number: int) -> bytes:
    """Make a malformed file; the same for the same number."""
    picks = picks_of(number)
    if kind == "trace":
        return trace_case(picks)
    return (malformed_text(picks) if kind == "text" else malformed_model(picks))[0]


def check_malformed(kind: MalformedKind, data: bytes) -> InputVerdict:
    """Read a file of a kind, in this process, and return the verdict."""
    if kind == "trace":
        return load_trace(data)
    return read_text(data) if kind == "text" else check_model(data)


class BatchReport(msgspec.Struct, frozen=True):
    """Verdicts of a child process, and its peak memory (bytes)."""

    found: list[InputVerdict]
    peak: int


def try_batch(kind: MalformedKind, numbers: Sequence[int], attempt: Attempt | None) -> BatchReport:
    """Make files and check them, in this process."""
    _warm_up(kind)
    found = [_tried(kind, number, attempt) for number in numbers]
    unit = 1 if sys.platform == "darwin" else 1024
    return BatchReport(found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


@cache
def _warm_up(kind: MalformedKind) -> None:
    """Load what is loaded at first use, so that it does not count as the time of a file."""
    if kind == "onnx":
        run_model(onnx_seeds()[0])
    else:
        malformed_case(kind, 0)


def _tried(kind: MalformedKind, number: int, attempt: Attempt | None) -> InputVerdict:
    data = malformed_case(kind, number)
    return check_malformed(kind, data) if attempt is None else attempt(data)


class Batches:
    """Check malformed files by number, and count the verdicts; close it, or use it in a ``with``.

    ``attempt`` replaces the usual check of this kind of file.
    """

    def __init__(
        self, kind: MalformedKind, *, attempt: Attempt | None = None, limits: Limits = LIMITS
    ) -> None:
        self.kind, self.attempt = kind, attempt
        self.counts: Counter[tuple[FileStatus, str]] = Counter()
        self.examples: dict[tuple[FileStatus, str], list[tuple[int, InputVerdict]]] = {}
        self.slowest: dict[FileStatus, tuple[float, int]] = {}
        self.peak = 0
        self._child = Child(limits, env=ONE_THREAD)

    def __enter__(self) -> "Batches":
        return self

    def __exit__(self, *ignored: object) -> None:
        self._child.close()

    @property
    def wrong(self) -> int:
        """Return the number of bugs."""
        return sum(count for (status, _), count in self.counts.items() if status == "wrong")

    def run(self, numbers: range) -> Iterator[tuple[int, InputVerdict]]:
        """Check files, and return the verdict of each."""
        for at in range(0, len(numbers), _BATCH):
            batch = numbers[at : at + _BATCH]
            for number, verdict in zip(batch, self._batch(batch), strict=True):
                self._count(number, verdict)
                yield number, verdict

    def _batch(self, numbers: Sequence[int]) -> list[InputVerdict]:
        """Check a batch; where it kills its process, each file by itself."""
        try:
            answers = self._child.call(try_batch, self.kind, numbers, self.attempt)
        except ChildDied as error:
            if len(numbers) == 1:
                return [InputVerdict("wrong", error.kind, f"{error}\n{error.traceback}")]
            return [found for number in numbers for found in self._batch([number])]
        self.peak = max(self.peak, answers.peak)
        return answers.found

    def _count(self, number: int, verdict: InputVerdict) -> None:
        key = verdict.status, verdict.what
        self.counts[key] += 1
        kept = self.examples.setdefault(key, [])
        if len(kept) < _SHOWN:
            kept.append((number, verdict))
        self.slowest[verdict.status] = max(
            self.slowest.get(verdict.status, (0.0, 0)), (verdict.seconds, number)
        )
