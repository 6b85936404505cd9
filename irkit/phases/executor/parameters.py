"""The parameters of a model in one piece of memory."""

from collections.abc import Sequence

from irkit.core import ALIGNMENT
from irkit.graph import ArrayData
from irkit.runtime import aligned


def in_memory(blocks: Sequence[ArrayData], size: int) -> memoryview:
    """Return the parameters in memory of a model, with zeros between them.

    Each array is kept only there afterwards, the largest first: weights may be as large as half of
    all memory.
    """
    memory, end = aligned(size), 0
    places: list[tuple[int, int, ArrayData]] = []
    for data in blocks:
        start, end = end, end + data.flat_bytes().size
        places.append((start, end, data))
        gap = -end % ALIGNMENT
        memory[end : end + gap] = 0
        end += gap
    for start, stop, data in sorted(places, key=lambda place: place[0] - place[1]):
        data.move_to(memory[start:stop])
    return memory.data.toreadonly()
