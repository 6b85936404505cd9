"""The first line of a function that stores something else on one target than on another."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.debug.check.difference import Difference
from irkit.debug.execution.inputs import Array, InputSet
from irkit.debug.report.line_table import NodeLines
from irkit.debug.targets.executor import TargetCall, TargetExecutor
from irkit.debug.targets.store_log import LogEntries, StoreLog, logged_dtype, with_store_log
from irkit.debug.targets.target_verdict import LineDifference
from irkit.ir import LOOP_LEVEL, PrimFunc, Store, listing

DifferencesOf = Callable[
    [PrimFunc, InputSet, Sequence[Array], Sequence[Array]], Sequence[Difference]
]
"""The difference of each array that two targets leave."""
ROOM = 1 << 16
"""Entries that one run logs."""
_MOST_RUNS = 64
_OVERLAP = 1 << 10
"""Entries that a run logs again: a vector that does not fit whole into the log is left out."""


def first_line(
    func: PrimFunc,
    inputs: InputSet,
    first: TargetExecutor,
    second: TargetExecutor,
    reference: TargetExecutor,
    differences: DifferencesOf,
    *,
    room: int = ROOM,
) -> LineDifference | None:
    """Return the first line that differs on one set of inputs; None if none does, or it is not
    among the first entries of a long run."""
    log = with_store_log(func, room)
    begin = 0
    for _ in range(_MOST_RUNS):
        args = log.arguments(inputs.copied(), begin)
        outcomes = [each.run([TargetCall(log.func, args)])[0] for each in (first, second)]
        if any(each.end not in ("ran", "stopped") or not each.arrays for each in outcomes):
            return None
        one, two = (log.entries(each.arrays) for each in outcomes)
        logged = InputSet(inputs.name, inputs.kind, tuple(args))
        apart = differences(log.func, logged, outcomes[0].arrays, outcomes[1].arrays)
        at = _first_entry(apart[-len(log.logs) : -2])
        if at is not None:
            known = reference.run([TargetCall(log.func, args)])[0]
            right = log.entries(known.arrays) if known.end == "ran" else None
            entries = {first.name: one, second.name: two}
            return _described(func, log, at, begin, entries, right)
        if begin + room >= max(one.count, two.count):
            return None
        begin += room - _OVERLAP
    return None


def _first_entry(apart: Sequence[Difference]) -> int | None:
    """Return the first entry of which line, place or value differ."""
    return min((each.at[0] for each in apart if each.at is not None), default=None)


def _described(
    func: PrimFunc,
    log: StoreLog,
    at: int,
    begin: int,
    entries: dict[str, LogEntries],
    right: LogEntries | None,
) -> LineDifference:
    lines, texts = NodeLines(LOOP_LEVEL, func), listing(func).lines
    (_, one), (_, two) = entries.items()
    stmt = log.lines[one.line(at)]
    number = lines.of(stmt)
    same = one.line(at) == two.line(at)
    other = "" if same else texts[lines.of(log.lines[two.line(at)]) - 1]
    shown = (
        entries if right is None or "interpreter" in entries else entries | {"interpreter": right}
    )
    kind = logged_dtype(stmt)
    values = {name: _text(each.values(kind)[at]) for name, each in shown.items()}
    span = stmt.span
    return LineDifference(
        number,
        texts[number - 1] if number else "",
        begin + at,
        int(one.places[at]) if isinstance(stmt, Store) else None,
        values,
        branched=not same,
        other=other,
        written="" if span is None or not span.line else f"{span.file}:{span.line}",
    )


def _text(value: Any) -> str:
    return str(np.asarray(value)[()])
