"""Malformed input: damaged and malicious models, IR text and traces, each made from a number.

A file is refused by an `IRKitError` with a location, within a second of processor time; or
accepted, and then text prints and reads back the same, and a model agrees with `onnx.reference`,
which runs in a fork because it may crash; anything else is a bug. Where the reference fails, or
differs for a model that the checker of onnx refuses, nothing is known: such cases are counted, not
hidden.

Reading order: inputs (how files are made), checks (what irkit does with them), kinds (all kinds by
name), batches (many, in a child process).
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
