"""The child's side: read calls, run them within the limits, write replies."""

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

from irkit.debug.processes.child import Limits, Reply, receive, send
from irkit.debug.processes.timeout import TimeUp, can_interrupt, timeout
from irkit.debug.processes.traceback_of_pass import traceback_of_pass

_TEXT = 1 << 16
_GRACE = 0.5  # seconds for the interrupt, which has the better traceback, to come first.


def serve(log_path: str) -> None:
    """Serve calls until the parent closes the pipe.

    Crashes and timeouts dump a traceback to the log.
    """
    source = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # Keeps whatever a call prints out of the replies.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent handles interrupts.
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
            send(replies, _reply(request, limits.seconds, log))


def _reply(request: bytes, seconds: float | None, log: IO[str]) -> bytes:
    try:
        function, args = pickle.loads(request)
        value = _run(function, args, seconds, log)
        reply = Reply(value=pickle.dumps(value, protocol=5))
        return msgspec.msgpack.encode(reply)
    except TimeUp as error:
        return msgspec.msgpack.encode(Reply(traceback=traceback_of_pass(error), halted="timeout"))
    except MemoryError as error:
        return msgspec.msgpack.encode(Reply(traceback=traceback_of_pass(error), halted="memory"))
    # SIGINT is ignored here; report everything else, SystemExit included, to the parent.
    except BaseException as error:
        return msgspec.msgpack.encode(_failure_reply(error))


def _run(function: Callable[..., Any], args: Any, seconds: float | None, log: IO[str]) -> Any:
    if seconds is None:
        return function(*args)
    # A watchdog thread outside Python ends loops in native code.
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=log)
    try:
        with timeout(seconds) if can_interrupt() else nullcontext():
            return function(*args)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _failure_reply(error: BaseException) -> Reply:
    text = f"{type(error).__name__}: {_text_of(error)}"
    packed = b""
    with suppress(Exception):
        packed = pickle.dumps(error, protocol=5)
        pickle.loads(packed)
    return Reply(error=packed, error_text=text[:_TEXT], traceback=traceback_of_pass(error))


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "str() of the exception failed"


def _limit_memory(memory: int | None) -> None:
    """Limit the memory that calls can allocate on top of what the process uses now."""
    if memory is None or sys.platform == "win32":
        return
    import resource  # Not available on Windows.

    used = 0
    with suppress(OSError), open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = used + memory
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    # Crashes are expected here: no core dumps.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _end_with_parent() -> None:
    """End this process when its parent is gone, even if Python is in an endless loop."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
