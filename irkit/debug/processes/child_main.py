"""The process that runs what might crash: read calls, run them within limits, write answers."""

import faulthandler
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import IO, Any

import msgspec

from irkit.debug.processes.child import Answer, Limits, receive, send
from irkit.debug.processes.timeout import TimeUp, can_interrupt, timeout
from irkit.debug.processes.traceback_of_pass import traceback_of_pass

_TEXT = 1 << 16
_GRACE = 0.5  # seconds: an interrupt has the better traceback.


def serve(log_path: str) -> None:
    """Answer calls until the parent closes the pipe; crashes and time-outs leave a traceback in
    the log."""
    source = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # Whatever else is printed must not get among the answers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent decides what an interrupt ends.
    _end_with_parent()
    with open(log_path, "w") as log:
        faulthandler.enable(log)
        limits = msgspec.msgpack.decode(receive(source), type=Limits)
        _limit_memory(limits.memory)
        while True:
            try:
                request = receive(source)
            except EOFError:
                return
            send(answers, _answer(request, limits.seconds, log))


def _answer(request: bytes, seconds: float | None, log: IO[str]) -> bytes:
    try:
        function, args = pickle.loads(request)
        value = _run(function, args, seconds, log)
        answer = Answer(value=pickle.dumps(value, protocol=5))
        return msgspec.msgpack.encode(answer)
    except TimeUp as error:
        return msgspec.msgpack.encode(Answer(traceback=traceback_of_pass(error), halted="timeout"))
    except MemoryError as error:
        return msgspec.msgpack.encode(Answer(traceback=traceback_of_pass(error), halted="memory"))
    # An interrupt cannot happen here; whatever else there is must be told, not obeyed.
    except BaseException as error:
        return msgspec.msgpack.encode(_failed(error))


def _run(function: Callable[..., Any], args: Any, seconds: float | None, log: IO[str]) -> Any:
    if seconds is None:
        return function(*args)
    # A thread outside of Python watches too: it ends a loop in native code.
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=log)
    try:
        with timeout(seconds) if can_interrupt() else nullcontext():
            return function(*args)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _failed(error: BaseException) -> Answer:
    text = f"{type(error).__name__}: {_said(error)}"
    packed = b""
    with suppress(Exception):
        packed = pickle.dumps(error, protocol=5)
        pickle.loads(packed)
    return Answer(error=packed, error_text=text[:_TEXT], traceback=traceback_of_pass(error))


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "its text cannot be made"


def _limit_memory(memory: int | None) -> None:
    """Limit what the calls may add to what the process has now."""
    if memory is None or sys.platform == "win32":
        return
    import resource  # Not there on Windows.

    used = 0
    with suppress(OSError), open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = used + memory
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    # The stack of a thread and the image of a crash count too.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _end_with_parent() -> None:
    """End this process when its parent is gone, also while Python is in an endless loop."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
