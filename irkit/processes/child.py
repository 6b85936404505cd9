"""A child process that runs functions which may crash, hang or exhaust memory.

The child is not a fork of this process, which can have threads: on Linux a server forks it, which
has nothing but what irkit imports; elsewhere it is spawned. It is trusted as much as this process;
functions are sent by name and imported there.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, TypeVar

import msgspec

from irkit.processes.fork_server import ForkedProcess, fork_server
from irkit.processes.limits import ONE_THREAD, ChildDied, Limits, death_text
from irkit.processes.messages import (
    REPORT_BYTES,
    ChildSettings,
    Reply,
    read_report,
    receive,
    send,
    write_report,
)
from irkit.processes.tracebacks import dumped_traceback

_T = TypeVar("_T")
_GRACE = 10.0  # seconds beyond the limit: normally the child interrupts itself.
_START_GRACE = 120.0  # seconds more for the first call: the limit is on the call, not on the start.
_START = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); \
import sys, json; sys.path[:] = json.loads(sys.argv[1])['path']; \
from irkit.processes.child_main import serve; serve(sys.argv[1])"
_NO_LIMITS = Limits()


class RemoteError(Exception):
    """Stand-in for an exception of the child that cannot be pickled; it has the same text."""


class RemoteTraceback(Exception):
    """Traceback of an exception in the child; set as the cause of the exception here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Process:
    """One process of a child: its pipes, and its log, which begins with its last report."""

    def __init__(
        self, limits: Limits, env: Mapping[str, str], outer: str, imports: Sequence[str]
    ) -> None:
        self.limits, self.outer = limits, outer
        self.killed = False
        self.ready = False
        self.log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 -- open as long as the process
        self.log.truncate(REPORT_BYTES)
        self.log.seek(REPORT_BYTES)
        paths = [path or os.getcwd() for path in sys.path]
        settings = ChildSettings(paths, self.log.fileno(), limits, outer)
        self.popen = _started(settings, env, imports)

    def exchange(self, request: bytes) -> Reply:
        """Send a request and wait for the reply. Raises: ChildDied."""
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        timer: threading.Timer | None = None
        if self.limits.seconds is not None:
            grace = _GRACE if self.ready else _START_GRACE
            timer = threading.Timer(self.limits.seconds + grace, self._kill)
            timer.daemon = True
            timer.start()
        try:
            write_report(self.log.fileno(), "")
            send(self.popen.stdin, request)
            reply = msgspec.msgpack.decode(receive(self.popen.stdout), type=Reply)
        # A pipe or the log that another thread has closed is a ValueError.
        except (EOFError, OSError, ValueError, msgspec.DecodeError):
            raise self._death() from None
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
        self.ready = True
        if reply.halted:  # The state of the process is unknown.
            what = self.limits.exceeded(reply.halted)
            raise ChildDied(reply.halted, what, reply.traceback, report=self.report())
        return reply

    def report(self) -> str:
        """Return the last report."""
        with suppress(OSError, ValueError):
            return read_report(self.log.fileno())
        return ""

    def end(self) -> None:
        """End the process."""
        self.popen.kill()
        self.popen.wait()
        pipes: list[IO[bytes] | None] = [self.popen.stdin, self.popen.stdout, self.log]
        for pipe in pipes:
            if pipe is not None:
                with suppress(OSError):  # Closing flushes what was not sent yet.
                    pipe.close()

    def _kill(self) -> None:
        self.killed = True
        self.popen.kill()

    def _death(self) -> ChildDied:
        try:
            code = self.popen.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:  # It closed its pipe and is still running.
            self.popen.kill()
            code = self.popen.wait()
        log = ""
        with suppress(OSError, ValueError):
            log = os.pread(self.log.fileno(), 1 << 16, REPORT_BYTES).decode(errors="replace")
        rest = dumped_traceback(log, self.outer), code, self.report()
        if self.killed or log.startswith("Timeout ("):
            return ChildDied("timeout", self.limits.exceeded("timeout"), *rest)
        if "MemoryError" in log and code > 0:
            return ChildDied("memory", self.limits.exceeded("memory"), *rest)
        return ChildDied("crash", death_text(code), *rest)


def _started(
    settings: ChildSettings, env: Mapping[str, str], imports: Sequence[str]
) -> "subprocess.Popen[bytes] | ForkedProcess":
    """Start a process: forked by the server, unless its interpreter needs another environment."""
    alike = {**os.environ, **ONE_THREAD} == {**env, **ONE_THREAD}
    server = fork_server() if alike else None
    if server is not None:
        with suppress(OSError):
            return server.fork(settings, env, imports)
    return subprocess.Popen(
        [sys.executable, "-c", _START, msgspec.json.encode(settings).decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        pass_fds=(settings.log,),
    )


class Child:
    """A process that runs calls one after another.

    It starts with the first call and restarts after a call that ended it. ``env`` is added to the
    environment inherited from this process. Tracebacks leave out the frames around those of the
    file ``outer``. ``imports`` are modules that calls need: where children are forked, their server
    imports them, once for all.
    """

    def __init__(
        self,
        limits: Limits = _NO_LIMITS,
        *,
        env: Mapping[str, str] | None = None,
        outer: str = "",
        imports: Sequence[str] = (),
    ) -> None:
        self.limits = limits
        self.env = {**os.environ, **(env or {})}
        self.outer, self.imports = outer, tuple(imports)
        self.starts = 0
        self._stopped = False
        self._lock = threading.RLock()
        self._process: _Process | None = None
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
            reply = process.exchange(request)
        except BaseException as error:  # Also an interrupt: the next read would get this reply.
            if isinstance(error, ChildDied) and self._process is not process:
                raise _stopped() from None
            self.close()
            raise
        if reply.error_text:
            raise _rebuilt_error(reply)
        try:
            return pickle.loads(reply.value)
        except Exception as error:  # Unpickling runs code of the class; or memory was overwritten.
            self.close()
            found = f"returned what cannot be read: {type(error).__name__}: {error}"
            raise ChildDied("crash", found) from None

    @property
    def report(self) -> str:
        """The last report of the call that runs, or ran last, in this process."""
        process = self._process
        return "" if process is None else process.report()

    def start(self) -> int:
        """Start the process if it is not running; return the number of starts so far."""
        with self._lock:
            self._running_process()
            return self.starts

    def close(self) -> None:
        """End the process if it is running, also during a call of another thread, which raises
        ChildDied."""
        finalizer = self._finalizer
        self._finalizer, self._process = _nothing, None
        finalizer()

    def stop(self) -> None:
        """End the process for good: further calls raise ChildDied."""
        self._stopped = True
        self.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def _running_process(self) -> _Process:
        process = self._process
        if process is not None and process.popen.poll() is None and not self._stopped:
            return process
        self.close()
        if self._stopped:
            raise _stopped()
        process = self._process = _Process(self.limits, self.env, self.outer, self.imports)
        self._finalizer = weakref.finalize(self, process.end)
        self.starts += 1
        if self._stopped:  # In the meantime.
            self.close()
            raise _stopped()
        return process


def isolate(
    function: Callable[..., _T],
    *args: Any,
    seconds: float | None = None,
    memory: int | None = None,
) -> _T:
    """Call a module-level function in its own child process; arguments are pickled.

    Units: seconds, bytes. Raises: whatever the function raises; ChildDied if it does not return.
    """
    with Child(Limits(seconds, memory)) as child:
        return child.call(function, *args)


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


def _stopped() -> ChildDied:
    return ChildDied("crash", "was stopped")


def _nothing() -> None:
    return None
