"""Which passes run, in which order, and why. Reading order: default, lowering."""

from irkit.phases.default import DEFAULT, ORDER
from irkit.phases.lowering import lower, trace

__all__ = ["DEFAULT", "ORDER", "lower", "trace"]
