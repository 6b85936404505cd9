"""Hostile input: damaged and malicious models, IR text and traces, each made from a number.

Reading order: damage (bytes); onnx_seeds, onnx_cases, text_changes, text_cases, trace_cases (what
each kind of file is changed in); verdict, read_text, try_onnx, referee, load_trace (what must
become of it); cases (all kinds by name); sweep (many, in a child process).
"""

from irkit.fuzz.malformed.batches import (
    Batches as Batches,
)
from irkit.fuzz.malformed.checks.compare_outputs import (
    compare_outputs as compare_outputs,
)
from irkit.fuzz.malformed.checks.load_trace import (
    load_trace as load_trace,
)
from irkit.fuzz.malformed.checks.read_text import (
    read_text as read_text,
    round_trip as round_trip,
)
from irkit.fuzz.malformed.checks.run_model import (
    ModelRun as ModelRun,
    load_model as load_model,
    run_model as run_model,
)
from irkit.fuzz.malformed.checks.verdict import (
    InputVerdict as InputVerdict,
    verdict_of as verdict_of,
)
from irkit.fuzz.malformed.inputs.byte_damage import (
    damaged as damaged,
)
from irkit.fuzz.malformed.inputs.onnx_cases import (
    malformed_model as malformed_model,
    onnx_case as onnx_case,
)
from irkit.fuzz.malformed.inputs.onnx_seeds import (
    onnx_seeds as onnx_seeds,
)
from irkit.fuzz.malformed.inputs.text_cases import (
    MONSTERS as MONSTERS,
    malformed_text as malformed_text,
    text_case as text_case,
    text_seeds as text_seeds,
)
from irkit.fuzz.malformed.inputs.trace_cases import (
    trace_case as trace_case,
    trace_seeds as trace_seeds,
)
from irkit.fuzz.malformed.kinds import (
    MALFORMED_KINDS as MALFORMED_KINDS,
    MalformedKind as MalformedKind,
    check_malformed as check_malformed,
    check_model as check_model,
    malformed_case as malformed_case,
)
