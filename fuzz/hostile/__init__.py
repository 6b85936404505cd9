"""Hostile input: damaged and malicious models, IR text and traces, each made from a number.

Reading order: damage (bytes); onnx_seeds, onnx_cases, text_cases, trace_cases (what each kind of
file is changed in); verdict, read_text, try_onnx, referee, try_trace (what must become of it);
cases
(all kinds by name); sweep (many, in child
processes).
"""

from irkit.fuzz.hostile.cases import HOSTILE_KINDS, HostileKind, hostile_case, try_hostile
from irkit.fuzz.hostile.damage import damaged
from irkit.fuzz.hostile.onnx_cases import onnx_case
from irkit.fuzz.hostile.onnx_seeds import onnx_seeds
from irkit.fuzz.hostile.read_text import try_text
from irkit.fuzz.hostile.referee import compare
from irkit.fuzz.hostile.sweep import Sweep
from irkit.fuzz.hostile.text_cases import MONSTERS, text_case, text_seeds
from irkit.fuzz.hostile.trace_cases import trace_case, trace_seeds
from irkit.fuzz.hostile.try_onnx import Ran, try_model
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
    "judged",
    "onnx_case",
    "onnx_seeds",
    "text_case",
    "text_seeds",
    "trace_case",
    "trace_seeds",
    "try_hostile",
    "try_model",
    "try_text",
    "try_trace",
]
