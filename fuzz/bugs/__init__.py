"""Planted bugs by family. Reading order: planted (what one is), then any family."""

from irkit.fuzz.bugs.arithmetic import ARITHMETIC
from irkit.fuzz.bugs.buffers import BUFFERS
from irkit.fuzz.bugs.conduct import CONDUCT
from irkit.fuzz.bugs.graphs import GRAPH_PASSES
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

__all__ = ["CATALOGUE", "CONDUCT", "Planted"]
