"""Hold a child process that runs functions which may crash, hang or eat all memory.

The child is spawned, never forked: a fork of a process with threads may hang. It is trusted as
this process is; what it is asked to run is named by module, and imported there.
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
_GRACE = 10.0  # seconds beyond the limit: the child stops itself, unless it cannot.
_START = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); \
import sys, json; sys.path[:] = json.loads(sys.argv[1]); \
from irkit.debug.processes.child_main import serve; serve(sys.argv[2])"

Death = Literal["timeout", "memory", "crash"]


class Limits(msgspec.Struct, frozen=True):
    """What a child may use in one call; None is as much as there is. Units: seconds, bytes."""

    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.seconds), ("memory limit", self.memory)):
            if value is not None and not value > 0:
                raise IRKitError(f"the {name} is {value}; expected more than 0")


class ChildDied(IRKitError):
    """The call took its process with it, or was stopped; ``kind`` says how, ``traceback`` where
    Python was."""

    def __init__(self, kind: Death, message: str, traceback: str = "", exit_code: int = 0) -> None:
        self.kind: Death = kind
        self.traceback = traceback
        self.exit_code = exit_code
        super().__init__(message)


class RemoteError(Exception):
    """An exception in the child that cannot be sent as it is; its text stands for it."""


class RemoteTraceback(Exception):
    """Where an exception was raised in the child; it is the cause of the exception here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Answer(msgspec.Struct, array_like=True):
    """What the child writes back: the pickled value, or how the call failed."""

    value: bytes = b""
    error: bytes = b""
    error_text: str = ""
    traceback: str = ""
    halted: Literal["", "timeout", "memory"] = ""


class Child:
    """A process that runs one call after another. It starts when first needed, and anew after a
    call that ended it. ``env`` is added to the environment that it gets from this process."""

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
        """Run a function of a module there, with arguments that pickle, and return its value.

        Raises: whatever it raises; ChildDied if it does not come back.
        """
        request = pickle.dumps((function, args), protocol=5)
        with self._lock:
            return self._called(request)

    def _called(self, request: bytes) -> Any:
        process = self._started()
        try:
            answer = self._exchanged(process, request)
        except ChildDied:
            self.close()
            raise
        except BaseException:  # Such as an interrupt: what is read next would be the old answer.
            self.close()
            raise
        if answer.halted:
            self.close()  # Nobody knows in what state it is.
            what = self._too_much() if answer.halted == "memory" else self._too_long()
            raise ChildDied(answer.halted, what, answer.traceback)
        if answer.error_text:
            raise _restored(answer)
        return pickle.loads(answer.value)

    def start(self) -> int:
        """Make sure that it runs; the number changes whenever it is a new one."""
        with self._lock:
            self._started()
            return self.starts

    def close(self) -> None:
        """End the process, if there is one."""
        self._finalizer()
        self._finalizer, self._process, self._log = _nothing, None, None

    def stop(self) -> None:
        """End the process, also from another thread in the middle of a call, which then raises;
        there will be no other one."""
        self._stopped = True
        self.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None and not self._stopped:
            return self._process
        self.close()
        self._go_on()
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
        self._go_on()  # It may have been stopped since.
        assert process.stdin is not None
        limits = msgspec.msgpack.encode(self.limits)
        with suppress(BrokenPipeError):  # Told when the answer is missing.
            send(process.stdin, limits)
        return process

    def _go_on(self) -> None:
        if self._stopped:
            self.close()
            raise ChildDied("crash", "was stopped")

    def _exchanged(self, process: subprocess.Popen[bytes], request: bytes) -> Answer:
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
            return msgspec.msgpack.decode(receive(process.stdout), type=Answer)
        except (EOFError, BrokenPipeError, msgspec.DecodeError):
            raise self._death(process, killed.is_set()) from None
        finally:
            if timer is not None:
                timer.cancel()

    def _death(self, process: subprocess.Popen[bytes], killed: bool) -> ChildDied:
        try:
            code = process.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:  # It closed its pipe and lives on.
            process.kill()
            code = process.wait()
        log = self._log.read(1 << 16) if self._log is not None else ""
        text = dumped_traceback(log)
        if killed or log.startswith("Timeout ("):
            return ChildDied("timeout", self._too_long(), text, code)
        if "MemoryError" in log and code > 0:
            return ChildDied("memory", self._too_much(), text, code)
        if code < 0:
            why = " (the system may have run out of memory)" if code == -signal.SIGKILL else ""
            found = f"crashed its process with {_signal_name(-code)}{why}"
            return ChildDied("crash", found, text, code)
        return ChildDied("crash", f"ended its process with exit code {code}", text, code)

    def _too_long(self) -> str:
        return f"did not end within {self.limits.seconds:g} s"

    def _too_much(self) -> str:
        if self.limits.memory is None:
            return "needed more memory than there is"
        return f"needed more than {self.limits.memory / (1 << 20):.0f} MiB of memory"


def send(to: IO[bytes], data: bytes) -> None:
    """Write bytes with their length before them."""
    to.write(len(data).to_bytes(_LENGTH, "little"))
    to.write(data)
    to.flush()


def receive(source: IO[bytes]) -> bytes:
    """Read bytes that :func:`send` wrote. Raises: EOFError if the other side is gone."""
    head = source.read(_LENGTH)
    if len(head) < _LENGTH:
        raise EOFError
    length = int.from_bytes(head, "little")
    data = source.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _restored(answer: Answer) -> BaseException:
    error: BaseException
    try:
        found: object = pickle.loads(answer.error) if answer.error else None
    except Exception:  # An exception class may do what it likes when it is restored.
        found = None
    # What ends a program there must not end this one.
    error = found if isinstance(found, (Exception, SystemExit)) else RemoteError(answer.error_text)
    error.__cause__ = RemoteTraceback(answer.traceback)
    return error


def _kill(process: subprocess.Popen[bytes], killed: threading.Event) -> None:
    killed.set()
    process.kill()


def _end(process: subprocess.Popen[bytes], log: IO[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # What was not sent yet has nowhere to go.
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
