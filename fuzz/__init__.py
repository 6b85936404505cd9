"""Random programs for finding faults. Reading order: expressions, nests, programs."""

from irkit.fuzz.programs import arguments, prim_funcs

__all__ = ["arguments", "prim_funcs"]
