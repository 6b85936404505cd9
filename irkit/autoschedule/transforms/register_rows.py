"""How many rows of a product share the vectors of a column panel in registers."""

from irkit.autoschedule.machine import Machine

_SPARE = 1
"""Registers that are left for what is loaded beside the columns."""


def step_cycles(rows: int, vectors: int, machine: Machine) -> float:
    """Estimate the cycles of a step of a tile: it loads its vectors and one value for each row."""
    multiplied = rows * vectors / machine.multiplied
    return max(multiplied, (rows + vectors) / machine.loaded, machine.latency)


def register_rows(count: int, vectors: int, machine: Machine) -> int:
    """Return the number of rows of a tile by which so many rows take the fewest cycles, a last tile
    that overlaps the one before included; at least 1."""
    room = machine.vector_registers - vectors - _SPARE
    most = max(1, min(count, room // vectors))

    def cycles(rows: int) -> tuple[float, int]:
        return -(-count // rows) * step_cycles(rows, vectors, machine), -rows

    return min(range(1, most + 1), key=cycles)
