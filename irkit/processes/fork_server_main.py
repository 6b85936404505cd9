"""The server's side: import what its owner has imported, fork children, tell how they end."""

import gc
import os
import random
import select
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from irkit.imports import import_uncollected
from irkit.processes.child_main import serve_settings
from irkit.processes.fork import end_with_parent
from irkit.processes.fork_server import ForkRequest, exit_code_bytes, receive_request
from irkit.processes.messages import ChildSettings

_LOOK_EVERY = 1.0


class _Server:
    """The children that run: process numbers by the owner's numbers, and where their ends go."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.owner = os.getppid()
        self.running: dict[int, int] = {}
        self.status: dict[int, int] = {}
        self.woken, self.waker = os.pipe()
        os.set_blocking(self.waker, False)
        os.set_blocking(self.woken, False)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)

    def run(self) -> None:
        """Serve until the owner closes the socket or ends."""
        while os.getppid() == self.owner:
            ready = select.select([self.channel, self.woken], [], [], _LOOK_EVERY)[0]
            if self.woken in ready:
                with suppress(BlockingIOError):
                    os.read(self.woken, 1 << 12)
                self._reap()
            if self.channel in ready:
                try:
                    request, descriptors = receive_request(self.channel)
                except (EOFError, ConnectionError):
                    return
                if request.number == 0:
                    _import(request.modules)
                elif request.settings is None:
                    self._kill(request.number)
                else:
                    self._fork(request, request.settings, descriptors)

    def _kill(self, number: int) -> None:
        if number in self.running:
            os.kill(self.running[number], signal.SIGKILL)

    def _reap(self) -> None:
        for number, process in list(self.running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del self.running[number]
                to = self.status.pop(number)
                with suppress(OSError):  # The owner waits no more.
                    os.write(to, exit_code_bytes(os.waitstatus_to_exitcode(status)))
                os.close(to)

    def _fork(self, request: ForkRequest, settings: ChildSettings, descriptors: list[int]) -> None:
        _import(request.modules)
        source, replies, status, errors, log = descriptors
        server = os.getpid()
        process = os.fork()
        if process == 0:
            self._begin(request, settings, (source, replies, errors, log), server)
        self.running[request.number], self.status[request.number] = process, status
        for each in (source, replies, errors, log):
            os.close(each)

    def _begin(
        self,
        request: ForkRequest,
        settings: ChildSettings,
        descriptors: tuple[int, int, int, int],
        server: int,
    ) -> NoReturn:
        """Run as the child: serve the calls of the owner, then end."""
        code = 1
        try:
            end_with_parent(server)
            gc.freeze()  # Garbage collection would copy every page of the server that it looks at.
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            source, replies, errors, log = descriptors
            for number, each in enumerate((source, replies, errors)):
                os.dup2(each, number)
                os.close(each)
            self.channel.close()
            for each in (self.woken, self.waker, *self.status.values()):
                os.close(each)
            os.environ.clear()
            os.environ.update(request.env)
            with suppress(OSError):
                os.chdir(request.folder)
            sys.path[:] = settings.path
            _seed()
            settings.log = log
            serve_settings(settings)
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        finally:
            os._exit(code)


def serve_forks(descriptor: int) -> None:
    """Serve forks on a socket until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The owner handles interrupts.
    with socket.socket(fileno=descriptor) as channel:
        _Server(channel).run()


def _import(modules: Sequence[str]) -> None:
    for name in modules:
        with suppress(Exception):  # The child imports it again, and says what is wrong.
            import_uncollected(name)


def _wake(number: int, frame: FrameType | None) -> None:
    """Do nothing: a signal that is handled writes to the descriptor that wakes the server."""


def _seed() -> None:
    """Seed the random numbers of this child, which the server would give to every child."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
