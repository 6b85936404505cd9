"""Choose the tile of a product of elements by vectors, by closed formulas from a machine's sizes.

A step of a tile multiplies each of its elements by each of its vectors, so the loads of a step are
the sum of both numbers, and the multiplications their product.
"""

import math
from collections.abc import Iterator

import msgspec

from irkit.autoschedule.lane_products.recognise import LaneProduct, size_of
from irkit.autoschedule.machine import Machine

_MOST_COLUMNS = 4
_MOST_ROWS = 32
_START = 30
"""Cycles to begin and end a tile, beside storing it."""
_STORED = 2.0
"""Cycles to finish and store a vector of results."""
_PART = 2
"""What is read again may fill one part in so many of the second cache."""


class LanePlan(msgspec.Struct, frozen=True):
    """A tile of ``high`` by ``wide`` elements along the last two row axes, by ``columns`` of the
    last column axis; ``around`` tiles along the outer row axis (``high``) are computed for all
    columns, before the next."""

    high: int
    wide: int
    columns: int
    around: int
    cycles: float = 0.0


def lane_plan(product: LaneProduct, machine: Machine) -> LanePlan | None:
    """Return the plan of the fewest estimated cycles; None if no tile fits into the registers."""
    found = min(_plans(product, machine), key=lambda plan: plan.cycles, default=None)
    if found is None:
        return None
    return msgspec.structs.replace(found, around=_around(product, machine, found))


def _plans(product: LaneProduct, machine: Machine) -> Iterator[LanePlan]:
    rows = [size_of(axis) for axis in product.rows]
    tall, line = (rows[-2] if len(rows) > 1 else 1), rows[-1]
    across = size_of(product.columns[-1]) if product.columns else 1
    for columns in range(1, min(across, _MOST_COLUMNS) + 1):
        if across % columns:
            continue
        vectors = columns * product.vectors
        for wide in range(1, min(line, _MOST_ROWS) + 1):
            most = min(tall, _MOST_ROWS // wide) if wide == line else 1
            for high in range(1, most + 1):
                sums = high * wide * vectors
                if sums + vectors + 1 > machine.vector_registers:
                    continue
                whole, rest = divmod(tall, high)
                cycles = whole * _tile_cycles(product, machine, high * wide, vectors)
                if rest:
                    cycles += _tile_cycles(product, machine, rest * wide, vectors)
                cycles *= -(-line // wide) * (across // columns)
                yield LanePlan(high, wide, columns, 1, cycles)


def _tile_cycles(product: LaneProduct, machine: Machine, elements: int, vectors: int) -> float:
    sums = elements * vectors
    loads = elements + vectors
    step = max(sums / machine.multiplied, loads / machine.loaded, machine.latency)
    # The vectors of a tile come from the second cache, one after the other.
    step = max(step, vectors * machine.near * 4)
    return product.steps * step + sums * _STORED + _START


def _around(product: LaneProduct, machine: Machine, plan: LanePlan) -> int:
    """Return how many tiles along the outer row axis read what the cache holds.

    All columns read these rows again; rows of the next tiles read all vectors again.
    """
    axis = product.rows[-2] if len(product.rows) > 1 else product.rows[-1]
    step = plan.high if len(product.rows) > 1 else plan.wide
    tiles = -(-size_of(axis) // step)
    columns = size_of(product.columns[-1]) if product.columns else 1
    if columns <= plan.columns:
        return tiles
    whole = product.read(product.tall, product.rows[-2:])
    room = machine.l2 // _PART
    blocks = max(1, math.ceil(whole / room))
    most = max(1, -(-tiles // blocks))
    exact = [count for count in range(most, 0, -1) if tiles % count == 0]
    return exact[0] if exact[0] * 2 > most else most
