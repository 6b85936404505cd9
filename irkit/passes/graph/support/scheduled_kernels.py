"""Schedules of many loop functions, by processes side by side where that is worth it.

Each process schedules whole functions. What a fork returns refers to the nodes that it was given by
where they are in memory, which is the same here: so those nodes stay the same objects.
"""

import io
import pickle
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from irkit.autoschedule import Machine, auto_schedule
from irkit.core import (
    Node,
    Recorder,
    Remark,
    RuleReport,
    binders,
    current_recorder,
    recording,
    uses,
    walk,
)
from irkit.ir import Block, PrimFunc
from irkit.processes import compile_jobs, side_by_side

FEWEST = 4
"""Functions below which one process schedules them."""


class _Scheduled(msgspec.Struct, frozen=True, eq=False):
    """A function with its schedule, and what was said about it."""

    func: PrimFunc
    remarks: list[Remark]
    reports: list[RuleReport]
    count: int


def scheduled(funcs: Sequence[PrimFunc], machine: Machine) -> list[PrimFunc]:
    """Return functions with the automatic schedule for a machine, in their order; what recorders
    get is in that order, too."""
    recorder = current_recorder()
    done: dict[int, bytes] = {}
    if len(funcs) >= FEWEST and (recorder is None or not recorder.keep):
        timed = recorder is not None and recorder.timed
        order = sorted(range(len(funcs)), key=lambda at: _effort(funcs[at]), reverse=True)
        done = side_by_side(
            lambda at: _encoded(_schedule(funcs[at], machine, timed), funcs[at]),
            order,
            compile_jobs(),
        )
    found: list[PrimFunc] = []
    for at, func in enumerate(funcs):
        if at not in done:
            found.append(auto_schedule(func, machine))
            continue
        made = _decoded(done[at], func)
        if recorder is not None:
            recorder.remarks += made.remarks
            recorder.add_reports(made.reports)
            recorder.count += made.count
        found.append(made.func)
    return found


def _schedule(func: PrimFunc, machine: Machine, timed: bool) -> _Scheduled:
    recorder = Recorder(timed=timed)
    with recording(recorder):
        made = auto_schedule(func, machine)
    return _Scheduled(made, recorder.remarks, list(recorder.rules.values()), recorder.count)


def _effort(func: PrimFunc) -> int:
    """Return a number that grows with the time that a schedule takes: each block is looked at
    beside the others, so a softmax takes longer than a convolution with more arithmetic."""
    nodes = list(walk(func))
    return len(nodes) * sum(isinstance(node, Block) for node in nodes) ** 2


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, given: Iterable[Node]) -> None:
        super().__init__(file, protocol=5)
        self.given = {id(node) for node in given}

    def persistent_id(self, obj: Any) -> int | None:
        return id(obj) if id(obj) in self.given else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, given: Iterable[Node]) -> None:
        super().__init__(file)
        self.given = {id(node): node for node in given}

    def persistent_load(self, pid: Any) -> Node:
        return self.given[pid]


def _encoded(made: _Scheduled, func: PrimFunc) -> bytes:
    file = io.BytesIO()
    _Pickler(file, _nodes(func)).dump(made)
    return file.getvalue()


def _decoded(data: bytes, func: PrimFunc) -> _Scheduled:
    made = _Unpickler(io.BytesIO(data), _nodes(func)).load()
    assert isinstance(made, _Scheduled)
    return made


def _nodes(func: PrimFunc) -> Iterable[Node]:
    """Return the nodes and symbols of a function."""
    for node in walk(func):
        yield node
        yield from binders(node)
        yield from uses(node)
