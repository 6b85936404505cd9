"""Messages between the two sides: frames in a pipe, and reports, of which the last one counts.

A child writes its reports at the beginning of a file that it shares with its parent, and
faulthandler writes behind them: both outlive the child, and nobody has to read them in time.
"""

import os
from collections.abc import Callable
from typing import IO, Literal

import msgspec

from irkit.processes.limits import Limits

_LENGTH = 8
REPORT_BYTES = 4096
"""Size of the last report in the file; longer ones are cut."""


class ChildSettings(msgspec.Struct):
    """What a child is started with: the path for imports, the descriptor of the log, the limits,
    and the file that tracebacks are cut at."""

    path: list[str]
    log: int
    limits: Limits
    outer: str


class Reply(msgspec.Struct, array_like=True):
    """Result of one call: the pickled value, or how the call failed."""

    value: bytes = b""
    error: bytes = b""
    error_text: str = ""
    traceback: str = ""
    halted: Literal["", "timeout", "memory"] = ""


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


def write_report(log: int, text: str) -> None:
    """Write a report to the descriptor of a log."""
    data = text.encode("utf-8", "replace")[:REPORT_BYTES]
    os.pwrite(log, data.ljust(REPORT_BYTES, b"\0"), 0)


def read_report(log: int) -> str:
    """Read the last report from the descriptor of a log."""
    return os.pread(log, REPORT_BYTES, 0).rstrip(b"\0").decode(errors="replace")


class Reporter:
    """Where the reports of this process go; nowhere if it is no child."""

    write: Callable[[str], object] | None = None


REPORTER = Reporter()


def report(text: str) -> None:
    """Report what this process does next to the process that started it, if it is a child.

    The parent can read the last report at any time, also after the child has died.
    """
    if REPORTER.write is not None:
        REPORTER.write(text)
