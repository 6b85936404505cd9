"""How a campaign is ended from outside: by Ctrl-C, or by the signal that CI ends a job with."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def interruptible() -> Generator[None]:
    """Let the signal that ends a process interrupt the block, as Ctrl-C does: what was done until
    then can be told."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


@contextmanager
def undisturbed() -> Generator[None]:
    """Let no interrupt into a block that ends soon, and that leaves things half done otherwise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = [signal.signal(number, signal.SIG_IGN) for number in _ENDING]
    try:
        yield
    finally:
        for number, handler in zip(_ENDING, old, strict=True):
            signal.signal(number, handler)
