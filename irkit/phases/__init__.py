"""Which passes run, in which order, and why. Reading order: default (loops), graph, legalize,
lowering, starting, building (kernels), calls, plan and compiling (models), placing, switches,
command."""

from irkit.phases.build import build
from irkit.phases.compile import compile, for_target
from irkit.phases.default import DEFAULT, ORDER
from irkit.phases.graph import GRAPH
from irkit.phases.legalize import LEGALIZE
from irkit.phases.lower import lower, trace
from irkit.phases.resume import pipeline_for

__all__ = [
    "DEFAULT",
    "GRAPH",
    "LEGALIZE",
    "ORDER",
    "build",
    "compile",
    "for_target",
    "lower",
    "pipeline_for",
    "trace",
]
