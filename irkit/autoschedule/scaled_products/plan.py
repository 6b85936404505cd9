"""Choose the tile of a product with packed weights, by closed formulas from a machine's sizes.

A vector of weights is unpacked once for all rows of a tile. So a tile has as many rows as there
are, up to what the registers hold beside the sums of a few vectors.
"""

from collections.abc import Iterator
from math import prod

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.scaled_products.recognise import ScaledProduct
from irkit.autoschedule.structure import Estimates
from irkit.ir import DType, Expr, Var, as_int, const, le

_MOST_VECTORS = 8
_MOST_ROWS = 12
_UNPACKED = 1.5
"""Multiplications in whose time a vector of weights is unpacked."""
_START = 30
"""Cycles to begin and end a tile."""
_AHEAD = 4096
"""Bytes that weights are fetched ahead: what comes from memory in the time that one line takes."""


class ScaledPlan(msgspec.Struct, frozen=True):
    """A tile of ``rows`` by ``vectors`` of ``lanes`` columns, whose weights are fetched ``ahead``
    blocks of steps, or steps if there is one block; 0 fetches nothing. ``cycles`` is an
    estimate."""

    rows: int
    vectors: int
    lanes: int
    ahead: int = 0
    cycles: float = 0.0


def quantized_width(rows: int, columns: int, steps: int, dtype: DType, machine: Machine) -> int:
    """Return how many columns of packed weights to lay out in a panel, for results of a type: those
    of the tile of the fewest estimated cycles.

    Units: rows, columns and steps of the product; the result is in columns.
    """
    found = _best(rows, columns, steps, _lanes(dtype, machine), machine, _MOST_VECTORS)
    return found.vectors * found.lanes


def scaled_plan(product: ScaledProduct, machine: Machine) -> ScaledPlan | None:
    """Return the plan of the fewest estimated cycles; None if panels are no whole vectors."""
    lanes = _lanes(product.store.buffer.dtype, machine)
    vectors, left = divmod(product.panel, lanes)
    if lanes < 2 or left:
        return None
    columns, steps = as_int(product.columns.extent) or 1, product.steps
    found = _best(product.row_count, columns, steps, lanes, machine, vectors, whole=True)
    return msgspec.structs.replace(found, ahead=_ahead(product, machine))


def _lanes(dtype: DType, machine: Machine) -> int:
    return max(1, machine.vector_bytes // dtype.bytes)


def _best(
    rows: int,
    columns: int,
    steps: int,
    lanes: int,
    machine: Machine,
    most: int,
    *,
    whole: bool = False,
) -> ScaledPlan:
    """Return the best tile of at most so many vectors; if ``whole``, of a divisor of them. Of tiles
    that are alike, the one of the most vectors reads the longest lines."""

    def cost(plan: ScaledPlan) -> tuple[float, int]:
        return plan.cycles, -plan.vectors

    found = [
        plan
        for plan in _plans(rows, columns, steps, lanes, machine)
        if (most % plan.vectors == 0 if whole else plan.vectors <= most)
    ]
    return min(found, key=cost)


def _plans(
    rows: int, columns: int, steps: int, lanes: int, machine: Machine
) -> Iterator[ScaledPlan]:
    heights = sorted({-(-rows // tiles) for tiles in range(-(-rows // _MOST_ROWS), rows + 1)})
    for vectors in range(1, min(_MOST_VECTORS, -(-columns // lanes)) + 1):
        for high in heights:
            sums = high * vectors
            if sums > 1 and sums + vectors + 2 > machine.vector_registers:
                continue
            multiplied = (sums + _UNPACKED * vectors) / machine.multiplied
            step = max(multiplied, (high + vectors) / machine.loaded, machine.latency)
            tiles = -(-rows // high) * -(-columns // (vectors * lanes))
            yield ScaledPlan(high, vectors, lanes, cycles=tiles * (steps * step + _START))


def _ahead(product: ScaledProduct, machine: Machine) -> int:
    """Return how far ahead to fetch weights, if the second cache does not hold them."""
    shape = [as_int(dim) or 1 for dim in product.wide.buffer.shape]
    size = prod(shape) * product.wide.dtype.bytes
    groups = as_int(product.groups.extent) or 1
    panel = size // shape[0]
    step = panel // (groups if groups > 1 else shape[1])
    return max(1, _AHEAD // step) if size > machine.l2 // 2 and panel > 2 * _AHEAD else 0


def scaled_sizes(
    product: ScaledProduct, estimates: Estimates
) -> tuple[list[Estimates], list[Expr]]:
    """Return the sizes to plan a product with any number of rows for, one row and what is assumed,
    and the condition for the first; else one, and none."""
    rows = None if product.rows is None else product.rows.extent
    if not isinstance(rows, Var):
        return [estimates], []
    return [{**estimates, rows: 1}, estimates], [le(rows, const(1, rows.dtype))]
