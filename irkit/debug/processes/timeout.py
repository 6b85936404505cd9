"""Interrupt Python after some time. Native code that does not come back cannot be interrupted."""

import signal
import threading
import types
from collections.abc import Generator
from contextlib import contextmanager

_AGAIN = 0.1  # seconds


class TimeUp(BaseException):
    """Not an Exception, so that code does not take it for a failure of its own."""


def can_interrupt() -> bool:
    """Say whether :func:`alarm` works here: on the main thread of a system with timers."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def timeout(seconds: float) -> Generator[None]:
    """Raise TimeUp in the block when the time is up, and again while it is not heeded."""

    def ring(number: int, frame: types.FrameType | None) -> None:
        raise TimeUp

    handler = signal.signal(signal.SIGALRM, ring)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if remaining:
            signal.setitimer(signal.ITIMER_REAL, remaining, interval)
