"""The child's side: read calls, run them within the limits, write replies."""

import faulthandler
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cache, partial
from typing import Any

import msgspec

from irkit.processes.limits import limit_memory
from irkit.processes.messages import REPORTER, ChildSettings, Reply, receive, send, write_report
from irkit.processes.timeout import TimeUp, can_interrupt, timeout
from irkit.processes.tracebacks import traceback_inside

_TEXT = 1 << 16
_limit_memory_once = cache(limit_memory)
_GRACE = 0.5  # seconds for the interrupt, which has the better traceback, to come first.


def serve(settings: str) -> None:
    """Serve calls until the parent closes the pipe.

    Crashes and timeouts dump a traceback to the log.
    """
    serve_settings(msgspec.json.decode(settings, type=ChildSettings))


def serve_settings(settings: ChildSettings) -> None:
    """Serve calls until the parent closes the pipe, in a process that was spawned or forked."""
    source = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # Keeps whatever a call prints out of the replies.
    os.set_inheritable(settings.log, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent handles interrupts.
    _end_with_parent()
    faulthandler.enable(settings.log)
    REPORTER.write = partial(write_report, settings.log)
    while True:
        try:
            request = receive(source)
        except EOFError:
            return
        send(replies, msgspec.msgpack.encode(_reply(request, settings)))


def _reply(request: bytes, settings: ChildSettings) -> Reply:
    try:
        function, args = pickle.loads(request)
        _limit_memory_once(settings.limits.memory)  # The modules that calls need are there by now.
        value = _run(function, args, settings)
        return Reply(value=pickle.dumps(value, protocol=5))
    except TimeUp as error:
        return Reply(traceback=traceback_inside(error, settings.outer), halted="timeout")
    except MemoryError as error:
        return Reply(traceback=traceback_inside(error, settings.outer), halted="memory")
    # SIGINT is ignored here; report everything else, SystemExit included, to the parent.
    except BaseException as error:
        return _failure_reply(error, settings.outer)


def _run(function: Callable[..., Any], args: Any, settings: ChildSettings) -> Any:
    seconds = settings.limits.seconds
    if seconds is None:
        return function(*args)
    # A watchdog thread outside Python ends loops in native code.
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=settings.log)
    try:
        with timeout(seconds) if can_interrupt() else nullcontext():
            return function(*args)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _failure_reply(error: BaseException, outer: str) -> Reply:
    text = f"{type(error).__name__}: {_text_of(error)}"
    packed = b""
    with suppress(Exception):
        packed = pickle.dumps(error, protocol=5)
        pickle.loads(packed)
    return Reply(error=packed, error_text=text[:_TEXT], traceback=traceback_inside(error, outer))


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "str() of the exception failed"


def _end_with_parent() -> None:
    """End this process when its parent is gone, even if Python is in an endless loop."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
