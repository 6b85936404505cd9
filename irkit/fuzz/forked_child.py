"""Forked children: the parent reads until they end or their time is over, and they end when the
parent does."""

import ctypes
import faulthandler
import gc
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable

_MOST_THREADS = 4
_LOOK_EVERY = 1.0
_PR_SET_PDEATHSIG = 1


def listen(
    pipe: int, seconds: float, parent: int, quiet: float = float("inf")
) -> tuple[bytes, bool]:
    """Read until the child closes the pipe; return False if it does not in time, if it is silent
    for ``quiet`` seconds, or if the ``parent`` of this process has ended."""
    heard, last = bytearray(), time.monotonic()
    until = last + seconds
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while os.getppid() == parent:
            left = min(until, last + quiet) - time.monotonic()
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


def limit_processor_time(seconds: float) -> None:
    """Limit the processor time of this process, in case nobody is left to stop it; a few threads
    may spend it at once. Units: seconds."""
    most = int(seconds * _MOST_THREADS) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def run_in_fork(work: Callable[[], bytes], seconds: float) -> tuple[bytes, str]:
    """Run a function in a fork of this process; return its result, or how the fork ended if there
    is none."""
    reading, writing = os.pipe()
    here, parent = os.getpid(), os.getppid()
    child = os.fork()
    if child == 0:
        try:
            end_with_parent(here)
            gc.disable()  # Garbage collection would copy every page that it looks at.
            os.close(reading)
            faulthandler.disable()
            resource.setrlimit(
                resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1])
            )
            limit_processor_time(seconds)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(work())
        finally:
            os._exit(0)  # Nothing else of the parent process may run here.
    os.close(writing)
    heard, ended = listen(reading, seconds, parent)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if heard and ended:
        return heard, ""
    if not ended:
        return b"", "timeout"
    return b"", "crash" if os.WIFSIGNALED(status) else "memory"
