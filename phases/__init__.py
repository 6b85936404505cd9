"""Which passes run, in which order, and why. Reading order: default, lowering, building."""

from irkit.phases.building import build
from irkit.phases.default import DEFAULT, ORDER
from irkit.phases.lowering import lower, trace

__all__ = ["DEFAULT", "ORDER", "build", "lower", "trace"]
