"""Interrupts from outside: Ctrl-C, or the signal with which CI ends a job."""

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
    """Turn the signal that ends a process into an interrupt inside the block, like Ctrl-C, so that
    results so far can be reported."""
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
    """Delay interrupts until the end of a short block that must not be left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = [signal.signal(number, signal.SIG_IGN) for number in _ENDING]
    try:
        yield
    finally:
        for number, handler in zip(_ENDING, old, strict=True):
            signal.signal(number, handler)
