"""What a kind of job is: its arguments, and how it is prepared, run and reported."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.processes import Limits

JobState = Literal["queued", "working", "done", "failed", "cancelled"]
LIMITS = Limits(seconds=120.0, memory=8 << 30)


class RunSink(Protocol):
    """Where a job puts the runs that it makes."""

    def add(self, loaded: LoadedTrace) -> int:
        """Add a run and return its number."""
        ...


class JobKind(msgspec.Struct, frozen=True):
    """A kind of job, as a struct of arguments and four functions.

    ``arguments`` is the struct that the page's JSON is decoded to. ``find`` looks up in the
    workspace what they refer to; the page waits for it, so it is quick. If it raises IRKitError,
    the job fails. ``send`` turns what was found into the arguments of ``run``, and can write files
    such as a trace to a folder. ``run`` is a module-level function, which the child calls; it can
    call ``report_progress``. ``take`` gets what ``find`` and ``run`` returned, and
    returns the result for the page.
    """

    arguments: type[msgspec.Struct]
    find: Callable[[Workspace, Any], Any]
    send: Callable[[Any, Path], tuple[Any, ...]]
    run: Callable[..., Any]
    take: Callable[[RunSink, Any, Any], object]
    limits: Limits = LIMITS


class JobInfo(msgspec.Struct, frozen=True):
    """State of a job. ``result`` is null until the job is done, and in lists of jobs; ``replay`` is
    the command that runs one again that failed. Units: ``seconds`` so far, of at most ``limit``;
    where passes run, one may take ``pass_limit``."""

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
    replay: str = ""
    limit: float | None = None
    pass_limit: float | None = None
