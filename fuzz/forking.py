"""What forked children share: the parent listens until they end, or until their time does."""

import os
import resource
import select
import time

_MOST_THREADS = 4


def listen(pipe: int, seconds: float) -> tuple[bytes, bool]:
    """Read until the child closes the pipe; False if it does not in time."""
    heard, until = bytearray(), time.monotonic() + seconds
    with os.fdopen(pipe, "rb", buffering=0) as stream:
        while select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]:
            part = stream.read(1 << 16)
            if not part:
                return bytes(heard), True
            heard += part
    return bytes(heard), False


def end_some_time(seconds: float) -> None:
    """Let this process end by itself if nobody is left to stop it after some seconds: what is given
    is processor time, which a few threads may spend at once."""
    most = int(seconds * _MOST_THREADS) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
