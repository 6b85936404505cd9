"""Limits of a child, how a process puts them on itself, and the error about a child that died."""

import os
import signal
import sys
from contextlib import suppress
from typing import Literal

import msgspec

from irkit.core import IRKitError

Death = Literal["timeout", "memory", "crash"]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Environment of processes that fork, or run side by side."""
_MOST_THREADS = 4


class Limits(msgspec.Struct, frozen=True):
    """Limits of one call in a child; None means unlimited. Units: seconds, bytes."""

    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.seconds), ("memory limit", self.memory)):
            if value is not None and not value > 0:
                raise IRKitError(f"the {name} is {value}; expected more than 0")

    def exceeded(self, kind: Literal["timeout", "memory"]) -> str:
        """Return what a call did that exceeded a limit, for a message."""
        if kind == "timeout":
            return "did not end" + (f" within {self.seconds:g} s" if self.seconds else "")
        if self.memory is None:
            return "ran out of memory"
        return f"needed more than {self.memory / (1 << 20):.0f} MiB of memory"


class ChildDied(IRKitError):
    """Raised when a call ended its process or was stopped.

    ``kind`` says how it ended, ``traceback`` where Python was at the time, and ``report`` is the
    last report of the call.
    """

    def __init__(
        self,
        kind: Death,
        message: str,
        traceback: str = "",
        exit_code: int = 0,
        report: str = "",
    ) -> None:
        self.kind: Death = kind
        self.traceback = traceback
        self.exit_code = exit_code
        self.report = report
        super().__init__(message)


def death_text(exit_code: int) -> str:
    """Return how a process ended, for a message; a negative exit code is a signal."""
    if exit_code >= 0:
        return f"ended its process with exit code {exit_code}"
    why = " (the system may have run out of memory)" if exit_code == -signal.SIGKILL else ""
    return f"crashed its process with {signal_name(-exit_code)}{why}"


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def limit_memory(memory: int | None) -> None:
    """Limit the memory that this process can allocate on top of what it uses now.

    A process with such a limit is expected to crash, and leaves no core dump.
    """
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
    no_core_dumps()


def no_core_dumps() -> None:
    """Leave no core dump when this process crashes."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def limit_processor_time(seconds: float) -> None:
    """Limit the processor time of this process, in case nobody is left to stop it; a few threads
    may spend it at once. Units: seconds."""
    import resource

    most = int(seconds * _MOST_THREADS) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def half_of_memory() -> int | None:
    """Return half of this machine's memory in bytes, or None if that is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None
