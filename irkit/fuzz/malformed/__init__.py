"""Hostile input: damaged and malicious models, IR text and traces, each made from a number.

Reading order: damage (bytes); onnx_seeds, onnx_cases, text_changes, text_cases, trace_cases (what
each kind of file is changed in); verdict, read_text, try_onnx, referee, load_trace (what must
become of it); cases (all kinds by name); sweep (many, in a child process).
"""

from irkit.fuzz.malformed.batches import Batches
from irkit.fuzz.malformed.checks.compare_outputs import compare_outputs
from irkit.fuzz.malformed.checks.load_trace import load_trace
from irkit.fuzz.malformed.checks.read_text import read_text, round_trip
from irkit.fuzz.malformed.checks.run_model import ModelRun, load_model, run_model
from irkit.fuzz.malformed.checks.verdict import InputVerdict, verdict_of
from irkit.fuzz.malformed.inputs.byte_damage import damaged
from irkit.fuzz.malformed.inputs.onnx_cases import malformed_model, onnx_case
from irkit.fuzz.malformed.inputs.onnx_seeds import onnx_seeds
from irkit.fuzz.malformed.inputs.text_cases import MONSTERS, malformed_text, text_case, text_seeds
from irkit.fuzz.malformed.inputs.trace_cases import trace_case, trace_seeds
from irkit.fuzz.malformed.kinds import (
    MALFORMED_KINDS,
    MalformedKind,
    check_malformed,
    check_model,
    malformed_case,
)

__all__ = [
    "MALFORMED_KINDS",
    "MONSTERS",
    "Batches",
    "InputVerdict",
    "MalformedKind",
    "ModelRun",
    "check_malformed",
    "check_model",
    "compare_outputs",
    "damaged",
    "load_model",
    "load_trace",
    "malformed_case",
    "malformed_model",
    "malformed_text",
    "onnx_case",
    "onnx_seeds",
    "read_text",
    "round_trip",
    "run_model",
    "text_case",
    "text_seeds",
    "trace_case",
    "trace_seeds",
    "verdict_of",
]
