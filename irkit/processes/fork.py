"""Calls in a fork of this process, which has everything imported already.

The process that forks should have one thread. The parent reads until the fork ends or its time is
over, and the fork ends when the parent does. What it returns is bytes, so that the caller decides
how they are decoded.
"""

import ctypes
import faulthandler
import gc
import io
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from irkit.processes.limits import (
    ChildDied,
    Limits,
    death_text,
    limit_memory,
    limit_processor_time,
    no_core_dumps,
)
from irkit.processes.messages import REPORTER, receive, send

_LOOK_EVERY = 1.0
_PR_SET_PDEATHSIG = 1
_REPORT, _VALUE, _NO_MEMORY, _ERROR = b"r", b"v", b"m", b"e"
"""What a message of the fork begins with."""


def run_in_fork(work: Callable[[], bytes], limits: Limits, *, quiet: float | None = None) -> bytes:
    """Run a function in a fork of this process and return its result.

    With ``quiet``, a fork that reports nothing for so many seconds is over its time, too. Raises:
    ChildDied if it does not return.
    """
    asks, here = os.getppid(), os.getpid()
    reading, writing = os.pipe()
    with warnings.catch_warnings():  # Python 3.12 warns of other threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _run(work, limits, reading, writing, here)
    os.close(writing)
    ended = False
    try:
        heard, ended = listen(reading, limits.seconds, asks, quiet)
    finally:
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return _result(heard, ended, os.waitstatus_to_exitcode(status), limits)


def listen(
    pipe: int, seconds: float | None, parent: int, quiet: float | None = None
) -> tuple[bytes, bool]:
    """Read until the child closes the pipe; return False if it does not in time, if it is silent
    for ``quiet`` seconds, or if the ``parent`` of this process has ended."""
    heard, last = bytearray(), time.monotonic()
    until = float("inf") if seconds is None else last + seconds
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while os.getppid() == parent:
            left = until - time.monotonic()
            if quiet is not None:
                left = min(left, last + quiet - time.monotonic())
            if left <= 0:
                break
            if not select.select([stream], [], [], min(left, _LOOK_EVERY))[0]:
                continue
            part = stream.read(1 << 16)
            if not part:
                return bytes(heard), True
            heard += part
            last = time.monotonic()
    return bytes(heard), False


def end_with_parent(parent: int) -> None:
    """Make this fork end when the parent process ends, or the thread of it that waits.

    Only Linux can; elsewhere an orphaned fork runs until its time is over.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # The parent had already ended.
            os._exit(1)


def _run(
    work: Callable[[], bytes], limits: Limits, reading: int, writing: int, parent: int
) -> NoReturn:
    """Do the work of the fork, and end it: nothing else of the parent process may run here."""
    try:
        end_with_parent(parent)
        os.close(reading)
        gc.freeze()  # Garbage collection would copy every page of the parent that it looks at.
        faulthandler.disable()  # A crash here is what is looked for.
        no_core_dumps()
        if limits.seconds is not None:
            limit_processor_time(limits.seconds)
        limit_memory(limits.memory)
        with os.fdopen(writing, "wb") as pipe:

            def write(kind: bytes, data: bytes) -> None:
                send(pipe, kind + data)

            REPORTER.write = lambda text: write(_REPORT, text.encode("utf-8", "replace"))
            try:
                write(_VALUE, work())
            except MemoryError:
                write(_NO_MEMORY, b"")
            except BaseException as error:
                write(_ERROR, f"raised {type(error).__name__}: {error}".encode("utf-8", "replace"))
    finally:
        os._exit(0)


def _result(heard: bytes, ended: bool, code: int, limits: Limits) -> bytes:
    source, report = io.BytesIO(heard), ""
    with suppress(EOFError):
        while True:
            message = receive(source)
            kind, data = message[:1], message[1:]
            if kind == _VALUE:
                return data
            if kind == _NO_MEMORY:
                raise ChildDied("memory", limits.exceeded("memory"), report=report)
            text = data.decode(errors="replace")
            if kind == _ERROR:
                raise ChildDied("crash", text, report=report)
            report = text
    if not ended:
        raise ChildDied("timeout", limits.exceeded("timeout"), "", code, report)
    raise ChildDied("crash", death_text(code), "", code, report)
