"""FIXME What the result of a job may change: runs are added beside those there are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from irkit.debug import Limits
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace

JobState = Literal["queued", "working", "done", "failed", "cancelled"]
LIMITS = Limits(seconds=120.0, memory=8 << 30)


class RunSink(Protocol):
    """What the result of a job may change: runs are added beside those there are."""

    def add(self, opened: LoadedTrace) -> int:
        """Add a run, and return its number."""
        ...


class JobKind(msgspec.Struct, frozen=True):
    """A kind of work, in four steps.

    ``arguments`` is the struct that the page's JSON has to be. ``find`` looks up in the workspace
    what they mean, while the page waits; it is quick, and an IRKitError of it is what the job
    fails with.
    ``send`` makes the arguments of ``run`` of that, in a folder for files, such as a trace. ``run``
    is a function of a module, which the child runs; it may call ``progress.tell(folder, ...)``.
    ``take`` gets what was found and what ``run`` gave back, and returns what the page is told.
    """

    arguments: type[msgspec.Struct]
    find: Callable[[Workspace, Any], Any]
    send: Callable[[Any, Path], tuple[Any, ...]]
    run: Callable[..., Any]
    take: Callable[[RunSink, Any, Any], object]
    limits: Limits = LIMITS


class JobInfo(msgspec.Struct, frozen=True):
    """How far a job is. ``result`` is there when it is done and was asked for by its number."""

    id: int
    kind: str
    arguments: msgspec.Raw
    state: JobState
    what: str
    done: int
    total: int
    seconds: float
    message: str
    result: msgspec.Raw = msgspec.Raw(b"null")
