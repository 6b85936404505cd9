"""A server process that forks children, which have imported what this process has of irkit.

It is spawned when the first child is needed, has one thread, and ends with this process. Only Linux
has one; elsewhere, and for another environment, a child is a new interpreter.
"""

import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

import msgspec

from irkit.processes.limits import ONE_THREAD
from irkit.processes.messages import ChildSettings

_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); \
from irkit.processes.fork_server_main import serve_forks; serve_forks(int(sys.argv[2]))"
_HEADER = 8
_CODE = 4
"""Bytes of the exit code that the server writes when a child has ended."""
LOST = -9
"""Exit code of a child whose server has ended: it was killed then."""


class ForkRequest(msgspec.Struct):
    """What the server is asked: to fork the child of a number, with settings, or to kill it; or,
    with the number 0, to import modules for those that it will fork."""

    number: int
    settings: ChildSettings | None = None
    env: dict[str, str] = {}
    folder: str = ""
    modules: list[str] = []


class ForkedProcess:
    """A child that the server has forked, with the methods of ``subprocess.Popen`` used here."""

    def __init__(self, server: "ForkServer", number: int, pipes: tuple[int, int, int]) -> None:
        self._server, self._number = server, number
        self.stdin: IO[bytes] | None = os.fdopen(pipes[0], "wb")
        self.stdout: IO[bytes] | None = os.fdopen(pipes[1], "rb")
        self._status = pipes[2]
        self._lock = threading.Lock()
        self.returncode: int | None = None
        weakref.finalize(self, os.close, self._status)

    def poll(self) -> int | None:
        """Return the exit code if the process has ended; a negative one is a signal."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended and return the exit code. Units: seconds.

        Raises: subprocess.TimeoutExpired.
        """
        if self.returncode is not None:
            return self.returncode
        if not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a forked child", timeout or 0)
        with self._lock:
            if self.returncode is None:
                code = os.read(self._status, _CODE)
                known = len(code) == _CODE
                self.returncode = int.from_bytes(code, "little", signed=True) if known else LOST
            return self.returncode

    def kill(self) -> None:
        """End the process, unless it has ended."""
        if self.returncode is None:
            with suppress(OSError):
                self._server.send(ForkRequest(self._number), ())


class ForkServer:
    """The server as its owner sees it: one process and the socket to it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._lock = threading.Lock()
        self._count = 0
        self._known: set[str] = set()
        self._socket, other = socket.socketpair()
        with other:
            self._popen = subprocess.Popen(
                [sys.executable, "-c", _START, _path_text(), str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **ONE_THREAD},
                pass_fds=(other.fileno(),),
            )
        self._end = weakref.finalize(self, _end, self._socket, self._popen, self.owner)

    @property
    def is_usable(self) -> bool:
        """Return True if this process owns the server, and it runs."""
        return self.owner == os.getpid() and self._popen.poll() is None

    def fork(
        self, settings: ChildSettings, env: Mapping[str, str], imports: Sequence[str] = ()
    ) -> ForkedProcess:
        """Fork a child that has these modules, too. Raises: OSError if the server has ended."""
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for to_child in (True, False, False):
                reading, writing = os.pipe()
                ours.append(writing if to_child else reading)
                theirs.append(reading if to_child else writing)
            with self._lock:
                self._count += 1
                number = self._count
                wanted = (_imported() | set(imports)) - self._known
                self._known |= wanted
            request = ForkRequest(number, settings, dict(env), os.getcwd(), sorted(wanted))
            self.send(request, (*theirs, 2, settings.log))
        except BaseException:
            _close(ours)
            raise
        finally:
            _close(theirs)
        return ForkedProcess(self, number, (ours[0], ours[1], ours[2]))

    def prepare(self, modules: Sequence[str]) -> None:
        """Have the server import modules meanwhile. Raises: OSError if the server has ended."""
        with self._lock:
            wanted = set(modules) - self._known
            self._known |= wanted
        self.send(ForkRequest(0, modules=sorted(wanted)), ())

    def send(self, request: ForkRequest, descriptors: Sequence[int]) -> None:
        """Send a request with descriptors of files. Raises: OSError if the server has ended."""
        data = msgspec.msgpack.encode(request)
        with self._lock:
            if not self.is_usable:
                raise OSError("the server of forks has ended")
            head = len(data).to_bytes(_HEADER, "little")
            socket.send_fds(self._socket, [head], list(descriptors))
            self._socket.sendall(data)


class _Current:
    """The server of this process; it has none until a child is needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.server: ForkServer | None = None


_CURRENT = _Current()


def fork_server() -> ForkServer | None:
    """Return the server of this process, started if there is none; None where none can be."""
    if sys.platform != "linux":
        return None
    with _CURRENT.lock:
        server = _CURRENT.server
        if server is None or not server.is_usable:
            server = _CURRENT.server = ForkServer()
        return server


def prepare_forks(modules: Sequence[str]) -> None:
    """Start the server of this process, if there can be one, and have it import modules of irkit
    while this process does something else: the first child starts that much sooner."""
    with suppress(OSError):  # Whoever needs a child will learn why there is none.
        server = fork_server()
        if server is not None:
            server.prepare(modules)


def receive_request(source: socket.socket) -> tuple[ForkRequest, list[int]]:
    """Read one request with its descriptors, in the server. Raises: EOFError at the end."""
    head, descriptors, _, _ = socket.recv_fds(source, _HEADER, 8)
    head += _exactly(source, _HEADER - len(head))
    data = _exactly(source, int.from_bytes(head, "little"))
    return msgspec.msgpack.decode(data, type=ForkRequest), list(descriptors)


def exit_code_bytes(code: int) -> bytes:
    """Encode the exit code of a child for the process that asked for it."""
    return code.to_bytes(_CODE, "little", signed=True)


def _exactly(source: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = source.recv(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _imported() -> set[str]:
    """Return the names of irkit's modules that this process has imported."""
    return {
        name
        for name in list(sys.modules)
        if name.startswith("irkit.") and not name.endswith("__main__")
    }


def _path_text() -> str:
    paths = [path or os.getcwd() for path in sys.path]
    return msgspec.json.encode(paths).decode()


def _close(descriptors: Sequence[int]) -> None:
    for each in descriptors:
        os.close(each)


def _end(channel: socket.socket, popen: "subprocess.Popen[bytes]", owner: int) -> None:
    channel.close()
    if os.getpid() == owner:
        popen.kill()
        popen.wait()
