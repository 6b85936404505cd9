"""The child's side of an isolated pass: receive a step, run its pass, send the result."""

import msgspec

from irkit.core import IRKitError, Recorder
from irkit.debug.isolation.input_digest import input_digest
from irkit.debug.isolation.trace_step import LEVELS
from irkit.transform import AnyPass, StepChannel, apply_pass


class PassReply(msgspec.Struct, frozen=True):
    """The resulting step as a message; empty if the pass returned an object of class ``other``, or
    ``modified`` its input in place."""

    message: bytes
    other: str = ""
    modified: bool = False


class _WorkerState:
    """State of the channel in this process; there is one channel at a time."""

    def __init__(self) -> None:
        self.channel: StepChannel | None = None


_STATE = _WorkerState()


def run_pass(
    new_channel: bool,
    message: bytes,
    p: AnyPass,
    recorder_class: type[Recorder],
    disabled: frozenset[int],
    keep: bool,
    timed: bool,
) -> PassReply:
    """Run a pass on the IR of a message, in the child."""
    if new_channel:
        _STATE.channel = StepChannel(LEVELS)
    channel = _STATE.channel
    if channel is None:
        raise IRKitError("the process that runs passes was restarted, and its channel was lost")
    step = channel.receive(message)
    recorder = recorder_class(disabled, keep=keep, timed=timed)
    known = input_digest(step.before)
    after: object = apply_pass(p, step.before, recorder)
    if input_digest(step.before) != known:
        return PassReply(b"", modified=True)
    if not isinstance(after, p.level):
        return PassReply(b"", type(after).__name__)
    done = msgspec.structs.replace(
        step,
        after=after,
        applications=recorder.count,
        kept=tuple(recorder.applications),
        remarks=tuple(recorder.remarks),
        reports=tuple(recorder.rules.values()),
    )
    return PassReply(channel.send(done))
