"""The side of the child process: take a step, run its pass, tell what it made."""

import msgspec

from irkit.core import IRKitError, Recorder
from irkit.graph import WHOLE_GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.transform import AnyPass, Exchange, apply_pass

LEVELS = (LOOP_LEVEL, WHOLE_GRAPH_LEVEL)


class Told(msgspec.Struct, frozen=True):
    """The step as a message; empty if the pass returned something else, of class ``other``."""

    message: bytes
    other: str = ""


class _Side:
    """What this process and its parent both know; there is one conversation at a time."""

    def __init__(self) -> None:
        self.exchange: Exchange | None = None


_SIDE = _Side()


def run_pass(
    fresh: bool,
    message: bytes,
    p: AnyPass,
    recorder_class: type[Recorder],
    disabled: frozenset[int],
    keep: bool,
) -> Told:
    """Run a pass on the IR of a message, in the child."""
    if fresh:
        _SIDE.exchange = Exchange(LEVELS)
    exchange = _SIDE.exchange
    if exchange is None:
        raise IRKitError("the process that ran passes was lost, and begun anew")
    step = exchange.receive(message)
    recorder = recorder_class(disabled, keep=keep)
    after: object = apply_pass(p, step.before, recorder)
    if not isinstance(after, p.level):
        return Told(b"", type(after).__name__)
    done = msgspec.structs.replace(
        step,
        after=after,
        applications=recorder.count,
        kept=tuple(recorder.applications),
        remarks=tuple(recorder.remarks),
    )
    return Told(exchange.send(done))
