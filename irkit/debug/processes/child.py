"""A child process that runs functions which may crash, hang or exhaust memory.

The child is spawned, not forked: a fork of a process with threads can hang. It is trusted as much
as this process; functions are sent by name and imported there.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any, Literal, TypeVar

import msgspec

from irkit.core import IRKitError
from irkit.debug.processes.traceback_of_pass import dumped_traceback

_T = TypeVar("_T")
_LENGTH = 8
_GRACE = 10.0  # seconds beyond the limit: normally the child interrupts itself.
_START = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); \
import sys, json; sys.path[:] = json.loads(sys.argv[1]); \
from irkit.debug.processes.child_main import serve; serve(sys.argv[2])"

Death = Literal["timeout", "memory", "crash"]


class Limits(msgspec.Struct, frozen=True):
    """Limits of one call in a child; None means unlimited. Units: seconds, bytes."""

    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.seconds), ("memory limit", self.memory)):
            if value is not None and not value > 0:
                raise IRKitError(f"the {name} is {value}; expected more than 0")


class ChildDied(IRKitError):
    """Raised when a call ended its process or was stopped.

    ``kind`` says how it ended, ``traceback`` where Python was at the time.
    """

    def __init__(self, kind: Death, message: str, traceback: str = "", exit_code: int = 0) -> None:
        self.kind: Death = kind
        self.traceback = traceback
        self.exit_code = exit_code
        super().__init__(message)


class RemoteError(Exception):
    """Stand-in for an exception of the child that cannot be pickled; it has the same text."""


class RemoteTraceback(Exception):
    """Traceback of an exception in the child; set as the cause of the exception here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Reply(msgspec.Struct, array_like=True):
    """Result of one call: the pickled value, or how the call failed."""

    value: bytes = b""
    error: bytes = b""
    error_text: str = ""
    traceback: str = ""
    halted: Literal["", "timeout", "memory"] = ""


class Child:
    """A process that runs calls one after another.

    It starts with the first call and restarts after a call that ended it. ``env`` is added to the
    environment inherited from this process.
    """

    def __init__(self, limits: Limits, *, env: Mapping[str, str] | None = None) -> None:
        self.limits = limits
        self.env = {**os.environ, **(env or {})}
        self.starts = 0
        self._stopped = False
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[str] | None = None
        self._finalizer: Callable[[], object] = _nothing

    def call(self, function: Callable[..., _T], *args: Any) -> _T:
        """Call a module-level function in the child and return its value; arguments are pickled.

        Raises: whatever the function raises; ChildDied if it does not return.
        """
        request = pickle.dumps((function, args), protocol=5)
        with self._lock:
            return self._call(request)

    def _call(self, request: bytes) -> Any:
        process = self._running_process()
        try:
            reply = self._exchange(process, request)
        except ChildDied:
            self.close()
            raise
        except BaseException:  # An interrupt, say: the next read would get this reply.
            self.close()
            raise
        if reply.halted:
            self.close()  # Its state is unknown.
            what = self._memory_text() if reply.halted == "memory" else self._timeout_text()
            raise ChildDied(reply.halted, what, reply.traceback)
        if reply.error_text:
            raise _rebuilt_error(reply)
        return pickle.loads(reply.value)

    def start(self) -> int:
        """Start the process if it is not running; return the number of starts so far."""
        with self._lock:
            self._running_process()
            return self.starts

    def close(self) -> None:
        """End the process if it is running."""
        self._finalizer()
        self._finalizer, self._process, self._log = _nothing, None, None

    def stop(self) -> None:
        """End the process for good, also from another thread during a call, which then raises."""
        self._stopped = True
        self.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def _running_process(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None and not self._stopped:
            return self._process
        self.close()
        self._raise_if_stopped()
        log = tempfile.NamedTemporaryFile("r", prefix="irkit-", suffix=".log", errors="replace")  # noqa: SIM115 -- open as long as the child
        paths = json.dumps([path or os.getcwd() for path in sys.path])
        process = subprocess.Popen(
            [sys.executable, "-c", _START, paths, log.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.env,
        )
        self.starts += 1
        self._process, self._log = process, log
        self._finalizer = weakref.finalize(self, _end, process, log)
        self._raise_if_stopped()  # It may have been stopped in the meantime.
        assert process.stdin is not None
        limits = msgspec.msgpack.encode(self.limits)
        with suppress(BrokenPipeError):  # Reported when the reply is missing.
            send(process.stdin, limits)
        return process

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            self.close()
            raise ChildDied("crash", "was stopped")

    def _exchange(self, process: subprocess.Popen[bytes], request: bytes) -> Reply:
        assert process.stdin is not None
        assert process.stdout is not None
        killed = threading.Event()
        timer: threading.Timer | None = None
        if self.limits.seconds is not None:
            timer = threading.Timer(self.limits.seconds + _GRACE, _kill, (process, killed))
            timer.daemon = True
            timer.start()
        try:
            send(process.stdin, request)
            return msgspec.msgpack.decode(receive(process.stdout), type=Reply)
        except (EOFError, BrokenPipeError, msgspec.DecodeError):
            raise self._child_died(process, killed.is_set()) from None
        finally:
            if timer is not None:
                timer.cancel()

    def _child_died(self, process: subprocess.Popen[bytes], killed: bool) -> ChildDied:
        try:
            code = process.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:  # It closed its pipe and is still running.
            process.kill()
            code = process.wait()
        log = self._log.read(1 << 16) if self._log is not None else ""
        text = dumped_traceback(log)
        if killed or log.startswith("Timeout ("):
            return ChildDied("timeout", self._timeout_text(), text, code)
        if "MemoryError" in log and code > 0:
            return ChildDied("memory", self._memory_text(), text, code)
        if code < 0:
            why = " (the system may have run out of memory)" if code == -signal.SIGKILL else ""
            found = f"crashed its process with {_signal_name(-code)}{why}"
            return ChildDied("crash", found, text, code)
        return ChildDied("crash", f"ended its process with exit code {code}", text, code)

    def _timeout_text(self) -> str:
        return f"did not end within {self.limits.seconds:g} s"

    def _memory_text(self) -> str:
        if self.limits.memory is None:
            return "ran out of memory"
        return f"needed more than {self.limits.memory / (1 << 20):.0f} MiB of memory"


def send(to: IO[bytes], data: bytes) -> None:
    """Write bytes, preceded by their length."""
    to.write(len(data).to_bytes(_LENGTH, "little"))
    to.write(data)
    to.flush()


def receive(source: IO[bytes]) -> bytes:
    """Read bytes written by :func:`send`.

    Raises: EOFError if the other side is gone.
    """
    head = source.read(_LENGTH)
    if len(head) < _LENGTH:
        raise EOFError
    length = int.from_bytes(head, "little")
    data = source.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _rebuilt_error(reply: Reply) -> BaseException:
    error: BaseException
    try:
        found: object = pickle.loads(reply.error) if reply.error else None
    except Exception:  # Unpickling runs code of the exception class.
        found = None
    # A KeyboardInterrupt or the like in the child must not end this process.
    error = found if isinstance(found, (Exception, SystemExit)) else RemoteError(reply.error_text)
    error.__cause__ = RemoteTraceback(reply.traceback)
    return error


def _kill(process: subprocess.Popen[bytes], killed: threading.Event) -> None:
    killed.set()
    process.kill()


def _end(process: subprocess.Popen[bytes], log: IO[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # Closing flushes what was not sent yet.
                pipe.close()
    with suppress(OSError):
        log.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _nothing() -> None:
    return None
