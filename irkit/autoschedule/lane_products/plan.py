"""Choose the tile of a product of elements by vectors, by closed formulas from a machine's sizes.

A step of a tile multiplies each of its elements by each of its vectors, so the loads of a step are
the sum of both numbers, and the multiplications their product.
"""

import math
from collections.abc import Iterator

import msgspec

from irkit.autoschedule.lane_products.recognise import LaneProduct, size_of
from irkit.autoschedule.machine import Machine

_MOST_COLUMNS = 5
_MOST_ROWS = 32
_LONGER = 1.04
"""What a last tile apart must save, since it takes longer to compile."""
_START = 30
"""Cycles to begin and end a tile, beside storing it."""
_STORED = 2.0
"""Cycles to finish and store a vector of results."""
_SCATTERED = 1.25
"""Loads of a vector that loading an element and copying it to all lanes takes as long as."""
_PART = 2
"""What is read again may fill one part in so many of a cache."""
_FEW_TILES = 16
_AGAIN = 2
"""How often as long a vector from the second cache takes where steps multiply meanwhile."""


class LanePlan(msgspec.Struct, frozen=True):
    """A tile of ``high`` by ``wide`` elements along the last two row axes, by ``columns`` of the
    last column axis. The outer row axis is cut into ``blocks``: all columns of one are computed
    before the next. A last tile overlaps the one before it; or, ``apart``, it has code of its own,
    for as many rows as are left along the axis of which a tile has not all. If it ``fetches``, the
    tiles of some columns prefetch the vectors of the next ones.
    """

    high: int
    wide: int
    columns: int
    blocks: int = 1
    apart: bool = False
    fetches: bool = False
    cycles: float = 0.0


def lane_plan(product: LaneProduct, machine: Machine) -> LanePlan | None:
    """Return the plan of the fewest estimated cycles; None if no tile fits into the registers."""
    found = min(_plans(product, machine), key=lambda plan: plan.cycles, default=None)
    if found is None:
        return None
    blocks, fetches = _blocks(product, machine), _fetches(product, machine, found)
    return msgspec.structs.replace(found, blocks=blocks, fetches=fetches)


def _plans(product: LaneProduct, machine: Machine) -> Iterator[LanePlan]:
    sizes = [size_of(axis) for axis in product.rows]
    tall, line = (sizes[-2] if len(sizes) > 1 else 1), sizes[-1]
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
                one = _tile_cycles(product, machine, high * wide, vectors)
                tiles = -(-tall // high) * -(-line // wide) * (across // columns)
                yield LanePlan(high, wide, columns, cycles=tiles * one)
                rest = line % wide or tall % high * (wide == line)
                if not rest:
                    continue
                rows = rest * wide if high > 1 else rest
                last = _tile_cycles(product, machine, rows, vectors)
                times = (tall if high == 1 else 1) * (across // columns)
                whole = tall // high if wide == line else line // wide
                cycles = _LONGER * times * (whole * one + last)
                yield LanePlan(high, wide, columns, apart=True, cycles=cycles)


def _tile_cycles(product: LaneProduct, machine: Machine, elements: int, vectors: int) -> float:
    sums = elements * vectors
    loads = _SCATTERED * elements + vectors
    step = max(sums / machine.multiplied, loads / machine.loaded, machine.latency)
    # A panel that the first cache does not hold comes from the second one for each tile.
    panel = product.steps * vectors * machine.vector_bytes
    step += vectors * machine.near * (1 if panel <= machine.l1 // _PART else _AGAIN)
    return product.steps * step + sums * _STORED + _START


def _blocks(product: LaneProduct, machine: Machine) -> int:
    """Return into how many blocks of equal size the outer row axis is cut, so that the cache holds
    what one reads for the next columns to read again; 1 if all fits."""
    columns = math.prod(size_of(axis) for axis in product.columns)
    whole = product.read(product.tall, product.rows[-2:])
    fewest = math.ceil(whole * _PART / machine.l2)
    extent = size_of(product.rows[-2:][0])
    if columns == 1 or fewest <= 1:
        return 1
    return next((count for count in range(fewest, extent) if extent % count == 0), 1)


def _fetches(product: LaneProduct, machine: Machine, plan: LanePlan) -> bool:
    """Return True if vectors that the second cache does not hold serve so few tiles that waiting
    for them takes long."""
    sizes = [size_of(axis) for axis in product.rows[-2:]]
    tile = (plan.high, plan.wide)[-len(sizes) :]
    tiles = math.prod(-(-size // by) for size, by in zip(sizes, tile, strict=True))
    columns = math.prod(size_of(axis) for axis in product.columns)
    whole = product.read(product.wide, product.columns)
    panel = whole * plan.columns // columns
    room = machine.l2 // _PART
    return tiles <= _FEW_TILES and whole * _PART > room and panel <= room
