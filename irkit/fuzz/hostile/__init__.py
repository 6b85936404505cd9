"""Hostile input: damaged and malicious models, IR text and traces, each made from a number.

Reading order: damage (bytes); onnx_seeds, onnx_cases, text_changes, text_cases, trace_cases (what
each kind of file is changed in); verdict, read_text, try_onnx, referee, try_trace (what must become
of it); cases (all kinds by name); sweep (many, in a child process).
"""

from irkit.fuzz.hostile.cases import (
    HOSTILE_KINDS,
    HostileKind,
    hostile_case,
    judged_model,
    try_hostile,
)
from irkit.fuzz.hostile.damage import damaged
from irkit.fuzz.hostile.onnx_cases import hostile_model, onnx_case
from irkit.fuzz.hostile.onnx_seeds import onnx_seeds
from irkit.fuzz.hostile.read_text import round_trip, try_text
from irkit.fuzz.hostile.referee import compare
from irkit.fuzz.hostile.sweep import Sweep
from irkit.fuzz.hostile.text_cases import MONSTERS, hostile_text, text_case, text_seeds
from irkit.fuzz.hostile.trace_cases import trace_case, trace_seeds
from irkit.fuzz.hostile.try_onnx import Ran, try_loading, try_model
from irkit.fuzz.hostile.try_trace import try_trace
from irkit.fuzz.hostile.verdict import Verdict, judged

__all__ = [
    "HOSTILE_KINDS",
    "MONSTERS",
    "HostileKind",
    "Ran",
    "Sweep",
    "Verdict",
    "compare",
    "damaged",
    "hostile_case",
    "hostile_model",
    "hostile_text",
    "judged",
    "judged_model",
    "onnx_case",
    "onnx_seeds",
    "round_trip",
    "text_case",
    "text_seeds",
    "trace_case",
    "trace_seeds",
    "try_hostile",
    "try_loading",
    "try_model",
    "try_text",
    "try_trace",
]
