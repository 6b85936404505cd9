"""The child's side: receive a step, run its pass, send the result."""

import msgspec

from irkit.core import IRKitError, Recorder
from irkit.debug.isolation.trace_step import LEVELS
from irkit.transform import AnyPass, StepChannel, apply_pass


class PassReply(msgspec.Struct, frozen=True):
    """The step as a message; empty if the pass returned something else, of class ``other``."""

    message: bytes
    other: str = ""


class _WorkerState:
    """What this process and its parent both know; there is one conversation at a time."""

    def __init__(self) -> None:
        self.exchange: StepChannel | None = None


_SIDE = _WorkerState()


def run_pass(
    fresh: bool,
    message: bytes,
    p: AnyPass,
    recorder_class: type[Recorder],
    disabled: frozenset[int],
    keep: bool,
) -> PassReply:
    """Run a pass on the IR of a message, in the child."""
    if fresh:
        _SIDE.exchange = StepChannel(LEVELS)
    exchange = _SIDE.exchange
    if exchange is None:
        raise IRKitError("the process that ran passes was lost, and begun anew")
    step = exchange.receive(message)
    recorder = recorder_class(disabled, keep=keep)
    after: object = apply_pass(p, step.before, recorder)
    if not isinstance(after, p.level):
        return PassReply(b"", type(after).__name__)
    done = msgspec.structs.replace(
        step,
        after=after,
        applications=recorder.count,
        kept=tuple(recorder.applications),
        remarks=tuple(recorder.remarks),
    )
    return PassReply(exchange.send(done))
