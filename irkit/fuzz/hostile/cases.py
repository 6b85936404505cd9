"""Hostile files of each kind, by number, and what must become of them."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from onnx.reference.op_run import OpRun

from irkit.fuzz.hostile.onnx_cases import onnx_case
from irkit.fuzz.hostile.read_text import try_text
from irkit.fuzz.hostile.referee import compare_apart
from irkit.fuzz.hostile.text_cases import text_case
from irkit.fuzz.hostile.trace_cases import trace_case
from irkit.fuzz.hostile.try_onnx import try_model
from irkit.fuzz.hostile.try_trace import try_trace
from irkit.fuzz.hostile.verdict import Verdict
from irkit.fuzz.picks import Picks, picks_of

HostileKind = Literal["text", "onnx", "trace"]
HOSTILE_KINDS: tuple[HostileKind, ...] = ("text", "onnx", "trace")

_MADE: dict[HostileKind, Callable[[Picks], bytes]] = {
    "text": text_case,
    "onnx": onnx_case,
    "trace": trace_case,
}


def hostile_case(kind: HostileKind, number: int) -> bytes:
    """Make a hostile file; the same for the same number."""
    return _MADE[kind](picks_of(number))


def try_hostile(kind: HostileKind, data: bytes) -> Verdict:
    """Read a file of a kind, in this process, and say how it fared."""
    if kind == "text":
        return try_text(data)
    if kind == "trace":
        return try_trace(data)
    return judged_model(data)


def judged_model(data: bytes, operators: Sequence[type[OpRun]] = ()) -> Verdict:
    """Compile and run a model, and hold what it computes against the reference, in which
    ``operators`` take the place of some."""
    ran = try_model(data)
    if not ran.outputs:
        return ran.verdict
    verdict = compare_apart(data, ran.inputs, ran.outputs, operators)
    return msgspec.structs.replace(verdict, seconds=ran.verdict.seconds)
