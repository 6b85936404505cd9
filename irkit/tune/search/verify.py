"""Replay records: derive their loops again, and check what they compute."""

from collections.abc import Iterator

import msgspec

from irkit.core import IRKitError
from irkit.ir import PrimFunc, parse
from irkit.tune.measure import Local, Measure, TrialOutcome
from irkit.tune.records import Record, Records
from irkit.tune.space import Task, TraceSpace, hash_of


class Verified(msgspec.Struct, frozen=True):
    """A record, and what became of its schedule here and now."""

    record: Record
    outcome: TrialOutcome

    @property
    def ok(self) -> bool:
        """True if the schedule still applies, and its results are right."""
        return self.outcome.verdict == "ok"


def verify_records(records: Records, measure: Measure | None = None) -> Iterator[Verified]:
    """Yield each record that has a schedule, replayed on the loops of its task and checked against
    the reference. Nothing is measured for long."""
    way = measure or Local()
    for record in records.candidates:
        if record.trace is not None and record.verdict == "ok":
            yield Verified(record, _outcome(record, records, way))


def _outcome(record: Record, records: Records, measure: Measure) -> TrialOutcome:
    line = records.tasks.get(record.task)
    if line is None:
        return TrialOutcome("skipped", message="the line of its task is missing")
    try:
        func = loops_of_task(line.loops)
        if hash_of(func) != record.task:
            return TrialOutcome("wrong", message="the loops of its task are not those it names")
        space = TraceSpace(func, msgspec.json.encode(record.trace).decode())
        with measure.session(Task(record.name, func, space)) as session:
            return session.run([{"trace": record.id}], {}, full=True, seconds=0.0)[0]
    except IRKitError as error:
        return TrialOutcome("build error", message=error.message)


def loops_of_task(text: str) -> PrimFunc:
    """Return the loops of a task from its line. Raises: ParseError if they are damaged."""
    return parse(text)
