"""The catalogue of seeded bugs, read from `tests/mutation/bugs`."""

from pathlib import Path

from tests.mutation.changes.seeded_bug import SeededBug, read_bugs

_FOLDER = Path(__file__).parents[1] / "bugs"


def _family(name: str) -> tuple[SeededBug, ...]:
    return tuple(read_bugs((_FOLDER / f"{name}.txt").read_text(encoding="utf-8")))


MISBEHAVIOUR = _family("misbehaviour")

CATALOGUE: tuple[SeededBug, ...] = (
    *_family("storage"),
    *_family("loops"),
    *_family("vectors"),
    *_family("thread_passes"),
    *_family("arithmetic"),
    *_family("loop_primitives"),
    *_family("block_primitives"),
    *_family("buffer_primitives"),
    *_family("graph_passes"),
    *MISBEHAVIOUR,
)

FUZZED_ONLY: tuple[SeededBug, ...] = (
    *_family("emitters"),
    *_family("converters"),
    *_family("operators"),
    *_family("graph_meaning"),
)
"""Bugs that no fixed program shows, since those run in the interpreter, are simple graphs and no
imported models: only fuzzing runs native code, imported models and nested graph bodies."""
