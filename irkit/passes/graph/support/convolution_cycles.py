"""What convolutions with filters of 3 x 3 cost in blocks of channels.

Formulas from the sizes of a machine say so: nothing is measured here. Weights come from memory at
each call, because a network reads others before it returns to them; other tensors are in a cache.
Prefetching hides a part of the cycles of memory; the others are added to those of arithmetic, as
they were in measurements.
"""

from collections.abc import Iterator

import msgspec

from irkit.autoschedule import GENERIC, Machine, register_rows, step_cycles

_REACHED = 0.9
"""The part of its multiplications in a cycle that a product between loads and stores reaches."""
_DIRECT_ROWS, _DIRECT_VECTORS = 14, 2
"""The register tile of the direct form, which neighbouring results of a row fill."""
_IMAGE = {2: (46.0, 64.0), 4: (153.0, 327.0)}
"""Cycles to pad and transform a tile of a vector of channels, on the common machine: those of its
operations, loads and stores by their number, and those that they wait for the second cache."""
_OVERLAP = 0.6
"""The part of that for two more rows of an image, which are padded only."""
_RESULT = {2: (28.0, 42.0), 4: (84.0, 216.0)}
"""Cycles to transform a tile of a vector of results back, and to finish it; as of an image."""
_ENDS = 2.0
"""Cycles to begin and to store each vector of a register tile."""
_READ = 1.0
"""Cycles that a vector takes beside that if it is read again long after it was used."""
_STREAM = 0.5
"""Cycles that a vector takes beside that in the innermost loops, if it is in the second cache."""
_LINE = 64
"""Bytes that come from memory together."""
_HIDDEN, _BEHIND = 0.5, 0.25
"""The part of the time from memory that prefetching hides, behind such a part of the arithmetic."""
_AGAIN = 0.25
"""The part of the time from memory that weights take which were read for the rows before."""
_VECTORS = (2, 3), (5, 1)
"""Blocks of filters in a panel, the better ones first: one alone loads more values of tiles than it
multiplies at once, and many leave few rows for a register tile."""
_MOST_PANELS = 16
_ENOUGH = 4
"""Blocks of rows, or chunks of filters, that are enough to distribute among threads."""


class ConvolutionSize(msgspec.Struct, frozen=True):
    """The sizes of a convolution: ``high`` x ``wide`` results for each of ``images``, of ``blocks``
    of ``inner`` channels to ``filters`` blocks of ``lanes``."""

    images: int
    high: int
    wide: int
    blocks: int
    inner: int
    filters: int
    lanes: int

    @property
    def channels(self) -> int:
        return self.blocks * self.inner

    def vectors(self, machine: Machine) -> int:
        """Return the vector registers that a block of results of f32 takes."""
        return max(1, -(-self.lanes * 4 // machine.vector_bytes))

    def weights(self, positions: int) -> int:
        """Return the bytes of weights that have so many positions."""
        return positions * self.channels * self.filters * self.lanes * 4


class WinogradPlan(msgspec.Struct, frozen=True):
    """How to compute a convolution by tiles of ``tile`` x ``tile``, and the ``cycles`` it takes:
    so many ``rows`` of tiles together, by chunks of ``panels`` of ``vectors`` blocks of filters."""

    tile: int
    rows: int
    panels: int
    vectors: int
    cycles: float = 0.0


def direct_cycles(size: ConvolutionSize, machine: Machine) -> float:
    """Estimate the cycles of the direct form."""
    per = size.vectors(machine)
    vectors = min(_DIRECT_VECTORS, size.filters * per)
    places = size.high * size.wide
    rows = register_rows(min(_DIRECT_ROWS, places), vectors, machine)
    step = step_cycles(rows, vectors, machine) / _REACHED
    tiles = size.images * -(-places // rows) * -(-size.filters * per // vectors)
    multiplied = tiles * (9 * size.channels * step + rows * vectors * _ENDS)
    return _with_memory(multiplied, size.weights(9) / _LINE * machine.streamed)


def _scaled(cycles: tuple[float, float], machine: Machine) -> float:
    """Return cycles of arithmetic and waits on the common machine as they are on another one."""
    counted, waits = cycles
    return counted * GENERIC.multiplied / machine.multiplied + waits * machine.near / GENERIC.near


def _with_memory(cycles: float, memory: float) -> float:
    """Return the cycles of arithmetic and those that weights take from memory together."""
    return cycles + memory - min(memory * _HIDDEN, cycles * _BEHIND)


def winograd_plan(size: ConvolutionSize, tile: int, machine: Machine) -> WinogradPlan:
    """Return the plan of the fewest cycles by tiles of a size; of plans that leave enough for the
    threads to distribute, if there are any."""
    plans = [
        msgspec.structs.replace(plan, cycles=_winograd_cycles(size, plan, machine))
        for plan in _plans(size, tile)
    ]
    apart = [plan for plan in plans if _parts(size, plan) >= _ENOUGH]
    return min(apart or plans, key=lambda plan: plan.cycles)


def _plans(size: ConvolutionSize, tile: int) -> Iterator[WinogradPlan]:
    down = -(-size.high // tile)
    # Of all heights that make as many blocks of rows, the lowest computes the least beyond the end.
    heights = sorted({-(-down // groups) for groups in range(1, down + 1)})
    good, others = ([each for each in few if size.filters % each == 0] for few in _VECTORS)
    for vectors in good or others:
        for panels in range(1, _MOST_PANELS + 1):
            if size.filters % (panels * vectors) == 0:
                for rows in heights:
                    yield WinogradPlan(tile, rows, panels, vectors)


def _groups(size: ConvolutionSize, plan: WinogradPlan) -> int:
    """Return how many blocks of rows of tiles an image has."""
    down = -(-size.high // plan.tile)
    return -(-down // plan.rows)


def _chunks(size: ConvolutionSize, plan: WinogradPlan) -> int:
    return size.filters // (plan.panels * plan.vectors)


def _parts(size: ConvolutionSize, plan: WinogradPlan) -> int:
    """Return how many parts the threads can take."""
    groups = size.images * _groups(size, plan)
    return groups if groups > 1 else _chunks(size, plan)


def _winograd_cycles(size: ConvolutionSize, plan: WinogradPlan, machine: Machine) -> float:
    """Estimate the cycles of a plan: products, transforms, and what moves between the caches."""
    positions = (plan.tile + 2) ** 2
    count = plan.rows * -(-size.wide // plan.tile)
    per, chunks = size.vectors(machine), _chunks(size, plan)
    together = plan.vectors * per
    low = register_rows(count, together, machine)
    panel = size.channels * together * machine.vector_bytes
    step = step_cycles(low, together, machine) / _REACHED
    step += together * (machine.near + _STREAM) if panel > machine.l1 // 2 else 0.0
    tiles = chunks * plan.panels * positions * -(-count // low)
    multiplied = tiles * (size.channels * step + low * together * _ENDS)
    channels = -(-size.channels * 4 // machine.vector_bytes)
    # Blocks of rows overlap by two rows of the image.
    image = _scaled(_IMAGE[plan.tile], machine) * (1 + _OVERLAP / (plan.rows * plan.tile))
    result = _scaled(_RESULT[plan.tile], machine)
    transformed = count * (channels * image + size.filters * per * result)
    # Transformed tiles are read again for each chunk, and those of a position for each panel.
    tiled, products = positions * count * channels, positions * count * plan.panels * together
    fits = (tiled + products) * machine.vector_bytes <= machine.l2 // 2
    moved = chunks * (tiled + 2 * products) * (machine.near if fits else machine.far)
    moved += (chunks - 1) * tiled * _READ
    moved += chunks * (plan.panels - 1) * tiled * (machine.near + _STREAM)
    weights = size.weights(positions) / _LINE * machine.streamed
    times = size.images * _groups(size, plan)
    again = weights * _AGAIN if size.weights(positions) > machine.l2 // 2 else 0.0
    cycles = times * (multiplied + transformed + moved) + (times - 1) * again
    return _with_memory(cycles, weights)
