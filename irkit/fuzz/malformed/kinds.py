"""Malformed files of each kind, by number, and their checks."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from onnx.reference.op_run import OpRun

from irkit.fuzz.malformed.checks.compare_outputs import compare_in_fork
from irkit.fuzz.malformed.checks.load_trace import load_trace
from irkit.fuzz.malformed.checks.read_text import read_text
from irkit.fuzz.malformed.checks.run_model import run_model
from irkit.fuzz.malformed.checks.verdict import InputVerdict
from irkit.fuzz.malformed.inputs.onnx_cases import onnx_case
from irkit.fuzz.malformed.inputs.text_cases import text_case
from irkit.fuzz.malformed.inputs.trace_cases import trace_case
from irkit.fuzz.picks import Picks, picks_of

MalformedKind = Literal["text", "onnx", "trace"]
MALFORMED_KINDS: tuple[MalformedKind, ...] = ("text", "onnx", "trace")

_MADE: dict[MalformedKind, Callable[[Picks], bytes]] = {
    "text": text_case,
    "onnx": onnx_case,
    "trace": trace_case,
}


def malformed_case(kind: MalformedKind, number: int) -> bytes:
    """Make a malformed file; the same for the same number."""
    return _MADE[kind](picks_of(number))


def check_malformed(kind: MalformedKind, data: bytes) -> InputVerdict:
    """Read a file of a kind, in this process, and return the verdict."""
    if kind == "text":
        return read_text(data)
    if kind == "trace":
        return load_trace(data)
    return check_model(data)


def check_model(data: bytes, operators: Sequence[type[OpRun]] = ()) -> InputVerdict:
    """Compile and run a model, and compare its results with the reference, in which ``operators``
    replace some."""
    ran = run_model(data)
    if not ran.outputs:
        return ran.verdict
    verdict = compare_in_fork(data, ran.inputs, ran.outputs, operators)
    return msgspec.structs.replace(verdict, seconds=ran.verdict.seconds)
