"""Logs of TVM's tuners: AutoTVM's are read and written, auto_scheduler's are read.

They say nothing of the machine, so what they hold is a hint: a candidate to measure first.
"""

import os
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


def read_auto_scheduler(path: str | os.PathLike[str]) -> list[tuple[str, tuple[Any, ...], int]]:
    """Read a log of auto_scheduler: of each line its workload, its steps, and its error."""
    found: list[tuple[str, tuple[Any, ...], int]] = []
    for given in _json_lines(path):
        try:
            (workload, *_), (_, steps) = given["i"]
            _, error, *_ = given["r"]
            found.append((str(workload), _plain(steps), int(error)))
        except (KeyError, TypeError, ValueError):
            continue
    return found


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
