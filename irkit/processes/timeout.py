"""Interrupts of Python code after some time.

Native code that does not return to Python cannot be interrupted.
"""

import signal
import threading
import types
from collections.abc import Generator
from contextlib import contextmanager

_REPEAT = 0.1  # seconds


class TimeUp(BaseException):
    """Raised when the time is up.

    It is not an Exception, so that code does not handle it like other errors.
    """


def can_interrupt() -> bool:
    """Return True if :func:`timeout` works here: on the main thread of a system with timers."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def timeout(seconds: float) -> Generator[None]:
    """Raise TimeUp in the block when the time is up, and again until the block ends."""

    def interrupt(number: int, frame: types.FrameType | None) -> None:
        raise TimeUp

    handler = signal.signal(signal.SIGALRM, interrupt)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if remaining:
            signal.setitimer(signal.ITIMER_REAL, remaining, interval)
