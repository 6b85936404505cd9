"""Passes that run in this process and may take it down: a fork that stays behind says which one.

The fork has everything that the pass was given. It waits, and ends when the pass returns.
"""

import faulthandler
import os
import select
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from irkit.core import Recorder
from irkit.debug.isolation.passes import is_own
from irkit.processes import dumped_traceback, signal_name
from irkit.transform import PASS_CALLER, Apply, Attempt, PassFailed, PassHalted

_LOG_BYTES = 1 << 16
_FATAL = "Fatal Python error: "


def death_watch(report: Callable[[PassFailed], object]) -> Callable[[Apply], Apply]:
    """Return a wrapper of functions that run passes in this process: if a pass of a user's ends the
    process, a fork of it calls ``report`` with the failure."""

    return lambda apply: _Watched(apply, report)


class _Watched:
    """Runs passes by ``own``, and watches those that are not irkit's."""

    def __init__(self, own: Apply, report: Callable[[PassFailed], object]) -> None:
        self.own, self.report = own, report

    def __call__(self, attempt: Attempt, recorder: Recorder) -> object:
        if not hasattr(os, "fork") or is_own(attempt.p):
            return self.own(attempt, recorder)
        return _run(self.own, attempt, recorder, self.report)


def _run(
    apply: Apply,
    attempt: Attempt,
    recorder: Recorder,
    report: Callable[[PassFailed], object],
) -> object:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with tempfile.TemporaryFile() as log:
        reading, writing = os.pipe()
        with warnings.catch_warnings():  # The fork writes a folder and ends: no thread is needed.
            warnings.simplefilter("ignore", DeprecationWarning)
            watcher = os.fork()
        if watcher == 0:
            os.close(writing)
            _watch(reading, log.fileno(), attempt, report)
        os.close(reading)
        mine = not faulthandler.is_enabled()
        if mine:
            faulthandler.enable(log)
        try:
            return apply(attempt, recorder)
        finally:
            if mine:
                faulthandler.disable()
            with suppress(OSError):  # The watcher was killed.
                os.write(writing, b"\n")
            os.close(writing)
            os.waitpid(watcher, 0)


def _watch(
    pipe: int, log: int, attempt: Attempt, report: Callable[[PassFailed], object]
) -> NoReturn:
    """Wait until the pass has returned or the process has ended, and report that."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        select.select([pipe], [], [])
        if not os.read(pipe, 1):
            text = os.pread(log, _LOG_BYTES, 0).decode(errors="replace")
            what, inside = _end_text(text), dumped_traceback(text, PASS_CALLER)
            error = attempt.failure("crash", what)
            error.__cause__ = PassHalted("crash", what, inside)
            report(error)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
    finally:
        os._exit(0)


def _end_text(log: str) -> str:
    """Return how the process ended, from what faulthandler wrote."""
    said = log.partition("\n")[0].removeprefix(_FATAL).replace("-", " ")
    for number in signal.valid_signals() if log.startswith(_FATAL) else ():
        if signal.strsignal(number) == said:
            return f"crashed its process with {signal_name(number)}"
    return "ended its process"
