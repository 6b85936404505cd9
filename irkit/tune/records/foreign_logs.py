"""Logs of TVM's tuners: AutoTVM's are read and written, auto_scheduler's are read.

They say nothing of the machine, so what they hold is a hint: a candidate to measure first. Those of
auto_scheduler lack the computation, too: of a template with the name and the arguments of the
workload, they say how loops are split.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from irkit.core import IRKitError
from irkit.tune.records.record import Record, TaskLine, Values

_ERRORS = {
    "ok": 0,
    "skipped": 1,
    "refused": 1,
    "build error": 2,
    "crash": 4,
    "memory": 4,
    "out of bounds": 5,
    "wrong": 5,
    "nan": 5,
    "time-out": 7,
}
"""AutoTVM's numbers of errors; 3 is a compilation for a device, 6 one that took too long."""
_NO_TIME = 1e10


class AutoTVMEntry(msgspec.Struct, frozen=True):
    """A line of an AutoTVM log: the task and its arguments, and the knobs of a candidate.

    Units: seconds.
    """

    task: str
    args: tuple[Any, ...]
    values: Values
    seconds: tuple[float, ...]
    error: int


class AutoSchedulerEntry(msgspec.Struct, frozen=True):
    """A line of an auto_scheduler log: the key of the workload, which has a name and arguments, and
    the steps of a candidate. Units: seconds.
    """

    workload: str
    steps: tuple[Any, ...]
    seconds: tuple[float, ...]
    error: int

    def values_for(
        self, template: str, args: Sequence[Any], knobs: Mapping[str, Sequence[Any]]
    ) -> Values | None:
        """Return the knobs of a template as its steps would set them; None if the workload has
        another name or other arguments, or a split of the template no step with one of its values.

        The steps name no loops: splits are taken in order, each by the first step that fits. What a
        step says nothing about keeps the first value.
        """
        try:
            name, *given = msgspec.json.decode(self.workload)
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
            return None
        if name not in (template, template.rpartition(".")[2]) or given != list(args):
            return None
        parts = [
            [-1, *step[4]]
            for step in self.steps
            if len(step) > 4 and step[0] == "SP" and isinstance(step[4], tuple)
        ]
        made: Values = {}
        for knob, options in knobs.items():
            made[knob] = options[0]
            if _is_split(options[0]):
                found = next((each for each in parts if each in map(list, options)), None)
                if found is None:
                    return None
                parts.remove(found)
                made[knob] = found
        return made


def read_autotvm(path: str | os.PathLike[str]) -> list[AutoTVMEntry]:
    """Read the lines of a log of version 0.2 that are whole; others are left out."""
    found: list[AutoTVMEntry] = []
    for given in _json_lines(path):
        try:
            _, task, args, *_ = given["input"]
            entity = given["config"]["entity"]
            costs, error, *_ = given["result"]
            values = {str(name): _knob(kind, value) for name, kind, value in entity}
            seconds = tuple(float(each) for each in costs)
            found.append(AutoTVMEntry(str(task), _plain(args), values, seconds, int(error)))
        except (KeyError, TypeError, ValueError):
            continue
    return found


def as_autotvm(task: TaskLine, record: Record) -> str:
    """Return a record as a line of an AutoTVM log of version 0.2.

    Raises: IRKitError for a candidate that is not of a template.
    """
    if not task.template:
        raise IRKitError(
            f"{record.id} has no knobs that AutoTVM knows: only candidates of templates can be "
            "written to its logs"
        )
    entity = [[name, *_entity(value)] for name, value in record.values.items()]
    seconds = record.measure.seconds if record.measure is not None else _NO_TIME
    target = f"llvm -mcpu={record.target.get('cpu', '')}"
    line: dict[str, Any] = {
        "input": [target, task.template, list(task.args), {}],
        "config": {"index": 0, "code_hash": None, "entity": entity},
        "result": [[seconds], _ERRORS[record.verdict], record.build.ms / 1e3, record.time],
        "version": 0.2,
        "tvm_version": "irkit",
    }
    return msgspec.json.encode(line).decode()


def read_auto_scheduler(path: str | os.PathLike[str]) -> list[AutoSchedulerEntry]:
    """Read the lines of a log of auto_scheduler that are whole; others are left out."""
    found: list[AutoSchedulerEntry] = []
    for given in _json_lines(path):
        try:
            (workload, *_), (_, steps) = given["i"]
            costs, error, *_ = given["r"]
            seconds = tuple(float(each) for each in costs)
            entry = AutoSchedulerEntry(str(workload), _plain(steps), seconds, int(error))
            if all(isinstance(step, tuple) for step in entry.steps):
                found.append(entry)
        except (KeyError, TypeError, ValueError):
            continue
    return found


def _is_split(value: Any) -> bool:
    """Return True for the value of a knob that splits a loop: the outermost size is -1."""
    return isinstance(value, (list, tuple)) and list(cast("Sequence[Any]", value))[:1] == [-1]


def _json_lines(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    try:
        with open(path, "rb") as file:
            for line in file:
                try:
                    given = msgspec.json.decode(line)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    continue
                if isinstance(given, dict):
                    found.append(cast("dict[str, Any]", given))
    except OSError as error:
        raise IRKitError(f"{os.fspath(path)} cannot be read: {error.strerror}") from None
    return found


def _plain(value: Any) -> tuple[Any, ...]:
    """Return lists of lists as tuples."""
    if not isinstance(value, list):
        raise TypeError("expected a list")
    items = cast("list[Any]", value)
    return tuple([_plain(each) if isinstance(each, list) else each for each in items])


def _knob(kind: str, value: Any) -> Any:
    """Return the value of a knob as templates have it."""
    if kind not in ("sp", "re", "an", "ot"):
        raise ValueError(kind)
    return list(value) if kind != "ot" else value


def _entity(value: Any) -> tuple[str, Any]:
    """Return the kind of a knob in AutoTVM's words, and its value."""
    if not isinstance(value, list):
        return "ot", value
    items = cast("list[Any]", value)
    if all(isinstance(each, str) for each in items):
        return "an", items
    return ("re" if sorted(items) == list(range(len(items))) else "sp"), items
