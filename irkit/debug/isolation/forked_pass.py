"""A pass that no other process can import, in a fork of this one: a crash ends only the fork."""

from typing import Any

import msgspec

from irkit.core import Recorder
from irkit.debug.isolation.pass_worker import PassReply, run_pass
from irkit.processes import (
    ChildDied,
    Limits,
    TimeUp,
    can_interrupt,
    run_in_fork,
    timeout,
    traceback_inside,
)
from irkit.transform import PASS_CALLER, Attempt

_GRACE = 2.0
"""How much later a fork is stopped whose pass cannot be interrupted. Units: seconds."""


class _ForkReply(msgspec.Struct, frozen=True):
    """What a fork found: a reply, or where the pass was when its time was over; neither if the pass
    raised an exception."""

    reply: PassReply | None = None
    overdue: str | None = None


def run_forked_pass(
    attempt: Attempt, recorder: Recorder, message: bytes, limits: Limits
) -> PassReply | None:
    """Run a pass on the IR of a message, and return its reply; None if it raises an exception, so
    that it can be run here and raise that.

    Raises: ChildDied if it crashes or exceeds a limit.
    """
    kept: dict[str, Any] = {"keep": recorder.keep, "timed": recorder.timed}

    def work() -> bytes:
        found = _ForkReply()
        try:
            # A fork has one thread, and that is the main one.
            with timeout(limits.seconds or 0):
                args = True, message, attempt.p, type(recorder), recorder.disabled
                found = _ForkReply(run_pass(*args, **kept))
        except MemoryError:
            raise
        except TimeUp as error:
            found = _ForkReply(overdue=traceback_inside(error, PASS_CALLER))
        except Exception:  # The caller runs the pass itself then, and gets the exception.
            pass
        return msgspec.msgpack.encode(found)

    assert can_interrupt()
    late = None if limits.seconds is None else limits.seconds + _GRACE
    try:
        data = run_in_fork(work, Limits(late, limits.memory))
    except ChildDied as error:
        if error.kind != "timeout":
            raise
        raise ChildDied("timeout", limits.exceeded("timeout"), error.traceback) from None
    found = msgspec.msgpack.decode(data, type=_ForkReply)
    if found.overdue is not None:
        raise ChildDied("timeout", limits.exceeded("timeout"), found.overdue)
    return found.reply
