"""Measure nothing: outcomes come from records, so a search can be run again as it was."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from irkit.tune.measure.session import Session, TrialOutcome, Worth
from irkit.tune.records import Record, Records, Values, key_of, read_records
from irkit.tune.space import Task


class Replay:
    """The outcomes of a file of records, or of records. What is not among them is skipped."""

    def __init__(self, records: str | os.PathLike[str] | Records) -> None:
        self.records = records if isinstance(records, Records) else read_records(records)

    def session(self, task: Task) -> AbstractContextManager[Session]:
        """Start to look up candidates of a task."""
        return nullcontext(_Recorded(self.records.of(task.hash)))


class _Recorded:
    def __init__(self, records: Sequence[Record]) -> None:
        self._known = {(key_of(each.values), each.stage): each for each in records}

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
        """Return what the records say."""
        return [self._outcome(values, full) for values in batch]

    def _outcome(self, values: Values, full: bool) -> TrialOutcome:
        found = self._known.get((key_of(values), "final" if full else "search"))
        if found is None:
            return TrialOutcome("skipped", message="no record has it")
        return TrialOutcome(
            found.verdict,
            found.build,
            found.checked,
            found.message,
            found.measure,
            found.machine,
            found.worker,
        )
