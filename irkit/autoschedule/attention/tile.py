"""Choose the tile of an attention, by closed formulas from a machine's sizes."""

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.transforms import register_rows, step_cycles

_VECTORS = (1, 2, 4)
_START = 30
"""Cycles to begin and end a tile of sums, beside storing it."""
_POWER = 12
"""Cycles for a vector of scores: scale, mask, maximum, exponential and sum."""
_COPIED = 2.5
"""Cycles to copy a key whose neighbours lie elsewhere."""


class AttentionTile(msgspec.Struct, frozen=True):
    """``rows`` queries by ``columns`` keys or features; ``part`` panels of keys have a maximum of
    their own, or all if it is 0. ``cycles`` are estimated for one head."""

    rows: int
    columns: int
    part: int = 0
    cycles: float = 0.0


def attention_tile(sizes: tuple[int, int, int, int], lanes: int, machine: Machine) -> AttentionTile:
    """Return the tile of the fewest estimated cycles for so many queries, keys, and features of a
    key and of a value."""
    found = [_tile(sizes, vectors, lanes, machine) for vectors in _VECTORS]
    best = min(found, key=lambda tile: tile.cycles)
    return msgspec.structs.replace(best, part=_part(sizes[1], best, lanes, machine))


def _tile(
    sizes: tuple[int, int, int, int], vectors: int, lanes: int, machine: Machine
) -> AttentionTile:
    queries, keys, inner, features = sizes
    rows, columns = register_rows(queries, vectors, machine), vectors * lanes
    panels, across = -(-keys // columns), -(-features // columns)
    step = step_cycles(rows, vectors, machine)
    ends = rows * vectors * 2.0 + _START
    products = panels * (inner * step + ends) + across * (keys * step + ends)
    powers = rows * panels * vectors * _POWER
    tiles = -(-queries // rows)
    copies = panels * columns * inner * _COPIED + keys * across * vectors
    return AttentionTile(rows, columns, cycles=tiles * (products + powers) + copies)


def _part(keys: int, tile: AttentionTile, lanes: int, machine: Machine) -> int:
    """Return how many panels of keys the first cache holds the scores of; 0 if it holds all."""
    size = machine.vector_bytes // lanes
    most = max(1, machine.l1 // (tile.rows * tile.columns * size))
    panels = -(-keys // tile.columns)
    if panels <= most:
        return 0
    parts = -(-panels // most)
    return -(-panels // parts)
