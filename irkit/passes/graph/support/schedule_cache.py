"""Scheduled functions as bytes, by what they are made from, in this process and in signed files.

The bytes refer to the nodes, symbols and spans of the function as written by their numbers, in the
order of a walk. So they serve the same function wherever it stands: the nodes that a schedule keeps
are those of the function it is asked for, and the places in a model that it names are that one's.

The key is the function itself, with its spans as numbers, the machine, and the versions of irkit
and Python. ``IRKIT_CACHE=0`` turns the cache off, ``IRKIT_CACHE=memory`` what is on disk.
"""

import hashlib
import io
import os
import pickle
import platform
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import msgspec

from irkit.autoschedule import ERRORS, Machine
from irkit.core import (
    Node,
    Remark,
    RuleReport,
    SignedFiles,
    Span,
    binders,
    own_sources,
    uses,
    walk,
)
from irkit.ir import PrimFunc, defines_instructions

MOST_BYTES = 32 << 20
"""The bytes of all schedules that a process keeps in memory."""
FILES = SignedFiles("schedules", ".schedule", most_files=2048, most_bytes=1 << 20)
_VARIABLE = "IRKIT_CACHE"


class ScheduledFunction(msgspec.Struct, frozen=True, eq=False):
    """A function with its schedule, and what was said about it."""

    func: PrimFunc
    remarks: list[Remark]
    reports: list[RuleReport]
    count: int


def encoded(made: ScheduledFunction, written: PrimFunc) -> bytes:
    """Return what was made of the function ``written`` as bytes."""
    file = io.BytesIO()
    _Pickler(file, [*_nodes(written)], [*_spans(written)]).dump(made)
    return file.getvalue()


def decoded(data: bytes, written: PrimFunc) -> ScheduledFunction:
    """Return what was made of the function ``written``, or of one with the same key."""
    made = _Unpickler(io.BytesIO(data), [*_nodes(written)], [*_spans(written)]).load()
    assert isinstance(made, ScheduledFunction)
    return made


def schedule_key(func: PrimFunc, machine: Machine) -> str | None:
    """Return the key of the schedule of a function; None if it is not kept."""
    sources = own_sources()
    # What a program defines can change under the same name.
    if os.environ.get(_VARIABLE) == "0" or sources is None or defines_instructions():
        return None
    file = io.BytesIO()
    try:
        _Pickler(file, [], [*_spans(func)]).dump(func)
    except RecursionError:
        return None
    about = (repr(machine.settings), os.environ.get(ERRORS, ""), platform.python_version(), sources)
    digest = hashlib.sha256(file.getvalue())
    for part in about:
        digest.update(len(part).to_bytes(8, "little") + part.encode())
    return digest.hexdigest()


class ScheduleCache:
    """Schedules in memory, those used last, over the ones in files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, key: str, written: PrimFunc) -> ScheduledFunction | None:
        """Return what is kept under the key of the function ``written``."""
        with self._lock:
            data = self._found.get(key)
            if data is not None:
                self._found.move_to_end(key)
        kept = data is not None
        data = data or FILES.read(key)
        if data is None:
            return None
        try:
            found = decoded(data, written)
        except Exception:  # Signed by this user's irkit, but a pickle can raise anything.
            return None
        if not kept:
            self._keep(key, data)
        return found

    def put(self, key: str, data: bytes) -> None:
        """Keep the bytes of what was made of a function."""
        self._keep(key, data)
        FILES.write(key, data)

    def clear(self) -> None:
        """Forget what is in memory."""
        with self._lock:
            self._found.clear()
            self._bytes = 0

    def _keep(self, key: str, data: bytes) -> None:
        with self._lock:
            self._bytes += len(data) - len(self._found.pop(key, b""))
            self._found[key] = data
            while self._bytes > MOST_BYTES:
                self._bytes -= len(self._found.popitem(last=False)[1])


SCHEDULES = ScheduleCache()
"""The schedules of this process."""


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, nodes: list[Node], spans: list[Span]) -> None:
        super().__init__(file, protocol=5)
        self.nodes = {id(node): number for number, node in enumerate(nodes)}
        self.spans = {span: number for number, span in enumerate(spans)}

    def persistent_id(self, obj: Any) -> tuple[str, int] | None:
        number = self.nodes.get(id(obj))
        if number is not None:
            return "node", number
        if isinstance(obj, Span) and (number := self.spans.get(obj)) is not None:
            return "span", number
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, nodes: list[Node], spans: list[Span]) -> None:
        super().__init__(file)
        self.given: dict[str, list[Any]] = {"node": nodes, "span": spans}

    def persistent_load(self, pid: tuple[str, int]) -> Any:
        kind, number = pid
        return self.given[kind][number]


def _nodes(func: PrimFunc) -> Iterator[Node]:
    """Yield the nodes and symbols of a function, each once."""
    seen: set[int] = set()
    for node in walk(func):
        for each in (node, *binders(node), *uses(node)):
            if id(each) not in seen:
                seen.add(id(each))
                yield each


def _spans(func: PrimFunc) -> Iterator[Span]:
    """Yield the spans of a function's nodes and symbols, and what they come from, each once."""
    seen: set[Span] = set()
    for node in _nodes(func):
        span: Span | None = getattr(node, "span", None)
        for each in () if span is None else span.chain():
            if each not in seen:
                seen.add(each)
                yield each
