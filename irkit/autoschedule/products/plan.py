"""Choose the tile of a product and what is packed, by closed formulas from a machine's sizes.

A tile of sums stays in registers while all steps of the reduction run. Its cycles in a step are
those of the busiest unit: two multiplications and two loads of a vector start in a cycle, and a sum
waits four cycles for itself. Whole tiles cover the result, so sizes that leave little over win.
"""

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products.recognise import MatrixProduct

_WIDEST = 8
_LATENCY = 4
_ISSUED = 2
"""Multiplications, and loads, of a vector that start in a cycle."""
_START = 30
"""Cycles to begin and end a tile, beside storing it."""
_FAR, _NEAR = 1.5, 0.25
"""Cycles to fetch a vector from the third and from the second cache, while others are fetched."""
_CONFLICT = 2048
"""Rows at a distance of a multiple of so many bytes share a few sets of a cache."""


class Panels(msgspec.Struct, frozen=True):
    """A tile of ``rows`` by ``vectors`` of ``lanes`` columns, and whether the columns are packed.

    ``cycles`` is the estimated time.
    """

    rows: int
    vectors: int
    lanes: int
    packed: bool
    cycles: float

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def panels_of(product: MatrixProduct, machine: Machine) -> Panels:
    """Return the plan with the fewest estimated cycles."""
    rows, columns, _ = product.sizes
    lanes = max(1, machine.vector_bytes // product.store.buffer.dtype.bytes)
    lanes = min(lanes, 1 << (columns - 1).bit_length())
    strided = not product.wide.is_contiguous_along(product.columns)
    choices: list[Panels] = []
    for vectors in range(1, min(_WIDEST, -(-columns // lanes)) + 1):
        most = (machine.vector_registers - 1 - vectors) // vectors
        for height in range(1, min(rows, most) + 1):
            for packed in (True,) if strided else (False, True):
                found = Panels(height, vectors, lanes, packed, 0.0)
                cycles = _cycles(product, machine, found, strided=strided)
                choices.append(msgspec.structs.replace(found, cycles=cycles))
    return min(choices, key=lambda each: (each.cycles, each.packed, -each.rows))


def _cycles(product: MatrixProduct, machine: Machine, plan: Panels, *, strided: bool) -> float:
    rows, columns, steps = product.sizes
    down, across = -(-rows // plan.rows), -(-columns // plan.columns)
    sums = plan.rows * plan.vectors
    step = max(sums / _ISSUED, (plan.rows + plan.vectors) / _ISSUED, _LATENCY)
    width = product.wide.load.buffer.dtype.bytes
    panel = steps * plan.columns * width
    if plan.packed:
        fetch = 0.0 if panel <= machine.l1 // 2 else _NEAR
        fill = steps * plan.vectors * (plan.lanes if strided else 2 * _FAR) + 100
    else:
        apart = product.wide.row_bytes()
        spread = steps if apart % _CONFLICT == 0 else 0
        ways = machine.l2 // max(apart, 1)
        slow = (spread > ways and spread > 0) or panel > machine.l2 // 2
        masks = 0.5 if columns % plan.lanes else 0.0
        fetch = _FAR if slow else _NEAR if panel > machine.l1 // 2 else 0.0
        fetch += masks
        fill = 0.0
    tile = steps * (step + fetch * plan.vectors) + sums + _START
    return across * (down * tile + fill)
