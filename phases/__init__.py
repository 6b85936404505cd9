"""Which passes run, in which order, and why. Reading order: default (loops), graph, lowering,
building (kernels), calls, plan and compiling (models), command."""

from irkit.phases.building import build
from irkit.phases.compiling import compile
from irkit.phases.default import DEFAULT, ORDER
from irkit.phases.graph import GRAPH
from irkit.phases.lowering import lower, trace

__all__ = ["DEFAULT", "GRAPH", "ORDER", "build", "compile", "lower", "trace"]
