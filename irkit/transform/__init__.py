"""The pass machinery, generic in the IR. Reading order: facts, define (options, spec), order,
pipeline (text, arrange), run, step, trace (trace_file, trace_write,
trace_read), exchange; then registry, stable."""

from irkit.core import fixpoint
from irkit.transform.define import AnyPass, Origin, Pass, define_pass, load_pass
from irkit.transform.facts import Fact
from irkit.transform.options import Option
from irkit.transform.order import MissingFact, Order, facts_after
from irkit.transform.pipeline import Phase, Pipeline
from irkit.transform.pipeline_spec import parse_pipeline, read_phases
from irkit.transform.registry import Registry
from irkit.transform.run import Apply, apply_here, apply_pass, run_steps
from irkit.transform.spec import (
    PassSpec,
    PlacedSpec,
    parse_phases,
    parse_placed,
    parse_spec,
    parse_specs,
    render_spec,
)
from irkit.transform.step import (
    IR,
    Attempt,
    FailureKind,
    Numbered,
    PassFailed,
    PassHalted,
    Step,
    VerificationFailed,
)
from irkit.transform.sub_pipeline import sub_pipeline
from irkit.transform.trace.channel import StepChannel
from irkit.transform.trace.model import Trace

__all__ = [
    "IR",
    "AnyPass",
    "Apply",
    "Attempt",
    "Fact",
    "FailureKind",
    "MissingFact",
    "Numbered",
    "Option",
    "Order",
    "Origin",
    "Pass",
    "PassFailed",
    "PassHalted",
    "PassSpec",
    "Phase",
    "Pipeline",
    "PlacedSpec",
    "Registry",
    "Step",
    "StepChannel",
    "Trace",
    "VerificationFailed",
    "apply_here",
    "apply_pass",
    "define_pass",
    "facts_after",
    "fixpoint",
    "load_pass",
    "parse_phases",
    "parse_pipeline",
    "parse_placed",
    "parse_spec",
    "parse_specs",
    "read_phases",
    "render_spec",
    "run_steps",
    "sub_pipeline",
]
