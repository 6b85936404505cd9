"""Planted bugs by family. Reading order: planted (what one is), then any family."""

from irkit.fuzz.bugs.arithmetic import ARITHMETIC
from irkit.fuzz.bugs.buffers import BUFFERS
from irkit.fuzz.bugs.conduct import CONDUCT
from irkit.fuzz.bugs.converters import CONVERTERS
from irkit.fuzz.bugs.emitters import EMITTERS
from irkit.fuzz.bugs.graphs import GRAPH_MEANING, GRAPH_PASSES
from irkit.fuzz.bugs.loops import LOOPS
from irkit.fuzz.bugs.moves import MOVES
from irkit.fuzz.bugs.planted import Planted
from irkit.fuzz.bugs.schedules import PRIMITIVES
from irkit.fuzz.bugs.storage import STORAGE
from irkit.fuzz.bugs.threads import THREAD_PASSES
from irkit.fuzz.bugs.vectors import VECTORS

CATALOGUE: tuple[Planted, ...] = (
    *STORAGE,
    *LOOPS,
    *VECTORS,
    *THREAD_PASSES,
    *ARITHMETIC,
    *PRIMITIVES,
    *MOVES,
    *BUFFERS,
    *GRAPH_PASSES,
    *CONDUCT,
)

HUNTED_ONLY: tuple[Planted, ...] = (*EMITTERS, *CONVERTERS, *GRAPH_MEANING)
"""Bugs that no fixed program shows, since those run in the interpreter and are simple graphs: only
where native code, a model or bodies inside of a graph run are they found, as in a hunt."""

__all__ = ["CATALOGUE", "CONDUCT", "HUNTED_ONLY", "Planted"]
