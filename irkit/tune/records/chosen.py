"""The winners of a file of records, and which of them fit a target."""

import os
from collections.abc import Iterable

import msgspec

from irkit.core import Target
from irkit.tune.machine_table import fingerprint
from irkit.tune.records.record import Record
from irkit.tune.records.record_file import read_records


class Chosen(msgspec.Struct, frozen=True):
    """Schedules to apply: the JSON of a trace by the hash of a function, and notes for a user."""

    traces: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def best_of(records: Iterable[Record]) -> dict[tuple[str, str], Record]:
    """Return the best winner of each task and machine: of the candidates that won their last two
    races against the default, in one run. Who won once may have been lucky.

    What is returned is the race that it won by less. Races of other candidates, whoever won them,
    take no earlier winner away.
    """
    last: dict[tuple[str, str, str], tuple[Record | None, Record]] = {}
    for each in records:
        if each.stage == "final":
            key = each.task, each.machine.fingerprint, each.id
            last[key] = (last[key][1] if key in last else None, each)
    found: dict[tuple[str, str], Record] = {}
    for (task, machine, _), (before, each) in last.items():
        known = found.get((task, machine))
        if before is None or before.search.run != each.search.run or not before.wins:
            continue
        lesser = min(before, each, key=_score)
        if each.wins and (known is None or lesser.score > known.score):
            found[task, machine] = lesser
    return found


def _score(record: Record) -> float:
    return record.score


def chosen_schedules(
    path: str | os.PathLike[str], target: Target, *, foreign: bool = False
) -> Chosen:
    """Return the schedules that won on a machine like a target's; with ``foreign`` also those that
    won elsewhere, where there is nothing better.

    Nothing is measured. Raises: IRKitError if the file cannot be read.
    """
    read = read_records(path)
    here = fingerprint(target)
    notes = [read.report(os.fspath(path))] if read.damaged else []
    found: dict[str, Record] = {}
    left = 0
    for (task, machine), record in best_of(read.candidates).items():
        if record.trace is None:
            continue
        if machine == here:
            found[task] = record
        elif not foreign:
            left += 1
        elif task not in found or (
            found[task].machine.fingerprint != here and found[task].score < record.score
        ):
            found[task] = record
    if left:
        notes.append(
            f"{left} schedules of {os.fspath(path)} were measured on another machine than {here} "
            "and are not used; --foreign-records uses them"
        )
    traces = {
        task: msgspec.json.encode(record.trace).decode() for task, record in sorted(found.items())
    }
    return Chosen(traces, tuple(notes))
