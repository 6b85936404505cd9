"""Interrupts from outside: Ctrl-C, or the signal with which CI ends a job."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType


def interruptible() -> AbstractContextManager[None]:
    """Turn the signal that ends a process into an interrupt inside a block, like Ctrl-C, so that
    results so far can be reported."""
    return _handled(_interrupt, signal.SIGTERM)


def undisturbed() -> AbstractContextManager[None]:
    """Delay interrupts until the end of a short block that must not be left half done."""
    return _handled(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _handled(
    handler: Callable[[int, FrameType | None], None] | signal.Handlers, *numbers: signal.Signals
) -> Generator[None]:
    """Handle signals inside a block; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, before in zip(numbers, old, strict=True):
            signal.signal(number, before)
