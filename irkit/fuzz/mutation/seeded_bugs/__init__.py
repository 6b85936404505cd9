"""Seeded bugs by family: the only catalogue. A bug is a text that must occur once in a module, and
its replacement; one that no longer fits is an error.

Bugs in code generation, in the converters of ONNX and in topi stand apart (`FUZZED_ONLY` beside
`CATALOGUE`): the fixed programs run in the interpreter and have no imported model. Reading order:
seeded_bug, then any family.
"""

from irkit.fuzz.mutation.seeded_bugs.arithmetic import ARITHMETIC
from irkit.fuzz.mutation.seeded_bugs.block_primitives import BLOCK_PRIMITIVES
from irkit.fuzz.mutation.seeded_bugs.buffer_primitives import BUFFER_PRIMITIVES
from irkit.fuzz.mutation.seeded_bugs.converters import CONVERTERS
from irkit.fuzz.mutation.seeded_bugs.emitters import EMITTERS
from irkit.fuzz.mutation.seeded_bugs.graphs import GRAPH_MEANING, GRAPH_PASSES
from irkit.fuzz.mutation.seeded_bugs.loop_primitives import LOOP_PRIMITIVES
from irkit.fuzz.mutation.seeded_bugs.loops import LOOPS
from irkit.fuzz.mutation.seeded_bugs.misbehaviour import (
    MISBEHAVIOUR as MISBEHAVIOUR,
)
from irkit.fuzz.mutation.seeded_bugs.seeded_bug import (
    SeededBug as SeededBug,
)
from irkit.fuzz.mutation.seeded_bugs.storage import STORAGE
from irkit.fuzz.mutation.seeded_bugs.thread_passes import THREAD_PASSES
from irkit.fuzz.mutation.seeded_bugs.vectors import VECTORS

CATALOGUE: tuple[SeededBug, ...] = (
    *STORAGE,
    *LOOPS,
    *VECTORS,
    *THREAD_PASSES,
    *ARITHMETIC,
    *LOOP_PRIMITIVES,
    *BLOCK_PRIMITIVES,
    *BUFFER_PRIMITIVES,
    *GRAPH_PASSES,
    *MISBEHAVIOUR,
)

FUZZED_ONLY: tuple[SeededBug, ...] = (*EMITTERS, *CONVERTERS, *GRAPH_MEANING)
"""Bugs that no fixed program shows, since those run in the interpreter and are simple graphs: only
fuzzing runs native code, imported models and nested graph bodies."""
