"""Choose the tile of a product and what is packed, by closed formulas from a machine's sizes.

A tile of sums stays in registers while all steps of the reduction run. Its cycles in a step are
those of the busiest unit: a few multiplications and loads of a vector start in a cycle, and a sum
waits for itself. Whole tiles cover the result, so sizes that leave little over win.
"""

import math
from collections.abc import Iterator

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products.recognise import MatrixProduct
from irkit.autoschedule.structure import MOST_COPIED
from irkit.ir import as_int

_WIDEST = 24
_START = 30
"""Cycles to begin and end a tile, beside storing it."""
_CONFLICT = 2048
"""Rows at a distance of a multiple of so many bytes share a few sets of a cache."""
_JUMP = 8
"""Cycles to begin to fetch another row from afar."""
_FEW_STEPS = 64
_MANY_STEPS = 512
"""From so many steps on, nobody sees the time that masked stores take."""
_STORED = 2.0
"""Cycles to store a vector of results, which may touch one more line of a cache in each row."""
_SCATTERED = 10.0
"""Cycles to fetch from yet another page in each step."""
_LINE = 64
"""Bytes of a line of the caches."""
_FETCHED = 3.0
"""Cycles to fetch a line of the rows from the second cache in each step."""
_STREAMED = 1.5
"""Cycles to fetch the next line of a row whose steps are neighbours."""
_LATE = 1.2
"""Loads that do not hit, split lines or meet others, for each that is counted."""
_MOVED = 1.5
"""Cycles to copy an element that is not moved with its neighbours."""
_NEW = 3.0
"""Cycles to copy an element to memory that the system has yet to give."""
_ADDED_TO = 2.0
"""Cycles to add a vector of a tile to the results of a panel in memory."""
_ADDED = 12
"""Cycles to add up the lanes of a sum."""
_MOST_SUMS = 24
"""Dot products in a tile: each takes a row of code to add up its lanes."""


class Panels(msgspec.Struct, frozen=True):
    """A tile of ``rows`` by ``vectors`` of ``lanes`` columns.

    ``packed`` copies the columns of a tile, ``stacked`` all rows, tile by tile. ``by_rows``
    finishes a row of tiles before the next, with all columns packed first. ``cut`` gives a last
    tile of fewer columns code of its own, without which all tiles need a mask. ``deep`` steps at a
    time are packed and multiplied, for all rows; 0 stands for all steps. If it ``fetches``, panels
    that lie in memory are fetched ahead, which takes longer if they are in the second cache.
    ``cycles`` is an estimate.
    """

    rows: int
    vectors: int
    lanes: int
    packed: bool
    stacked: bool = False
    by_rows: bool = False
    cut: bool = False
    deep: int = 0
    fetches: bool = True
    cycles: float = 0.0

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


class Dots(msgspec.Struct, frozen=True):
    """A tile of ``rows`` by ``columns`` dot products of ``unroll`` vectors of ``lanes`` steps."""

    rows: int
    columns: int
    unroll: int
    lanes: int
    cycles: float = 0.0

    @property
    def width(self) -> int:
        return self.unroll * self.lanes


Choice = tuple[MatrixProduct, Panels | Dots]
"""A plan for a product, or for the transposed one."""


def plan_of(product: MatrixProduct, machine: Machine) -> Choice | None:
    """Return the plan with the fewest estimated cycles, the first of those that are alike."""
    return min(plans_of(product, machine), key=lambda choice: choice[1].cycles, default=None)


def plans_of(product: MatrixProduct, machine: Machine) -> list[Choice]:
    """List the plans that fit a machine's registers."""
    if product.panel:
        return [(product, plan) for plan in panels_of(product, machine)]
    # Lanes along any number of rows need a padded copy of the result, which the stages after the
    # product cannot be computed in.
    turned = None if product.has_open_rows else product.turned()
    ways = [product] if turned is None else [product, turned]
    found: list[Choice] = [(way, plan) for way in ways for plan in panels_of(way, machine)]
    if product.has_open_steps and product.rows is not None:
        return found  # Vectors of steps could only be padded in a copy.
    return found + [(product, plan) for plan in _dots(product, machine)]


def cycles_of(product: MatrixProduct, machine: Machine, plan: Panels | Dots) -> float:
    """Estimate the cycles of a plan."""
    if isinstance(plan, Dots):
        return _dot_cycles(product, machine, plan) + _moved(product) * _MOVED
    strided = not product.wide.is_contiguous_along(product.columns)
    return _panel_cycles(product, machine, plan, strided=strided)


def _lanes(product: MatrixProduct, machine: Machine) -> int:
    return max(1, machine.vector_bytes // product.store.buffer.dtype.bytes)


def panels_of(product: MatrixProduct, machine: Machine) -> Iterator[Panels]:
    """List the plans of panels that fit a machine's registers, and the panels in memory."""
    rows, columns, steps = product.sizes
    shared = product.tall.load.buffer is product.wide.load.buffer
    lanes = min(_lanes(product, machine), 1 << (columns - 1).bit_length())
    strided = not product.wide.is_contiguous_along(product.columns)
    stackable = not product.is_open and _reads_lines(product)
    # Few steps: storing takes the time, and goes on along the rows. Else rows are fetched again.
    by_rows = steps <= _FEW_STEPS and rows > 1 and not product.is_turned
    # Without registers for masks, a mask takes one of the few for vectors, and stores are slow.
    masked = not machine.has_masks and not product.is_open
    panel = product.panel
    fetches = product.wide.elements() * product.wide.load.buffer.dtype.bytes > machine.l2
    for vectors in range(1, min(_WIDEST, -(-columns // lanes)) + 1):
        if panel and panel % (vectors * lanes):
            continue
        most = (machine.vector_registers - 1 - vectors) // vectors
        for height in range(min(rows, most), 0, -1):
            for packed in (True,) if strided else (False,) if panel else (False, True):
                for stacked in (False, True) if stackable else (False,):
                    if shared and (packed or stacked):
                        continue
                    if not _fits_memory(
                        product, height if stacked else 0, packed * vectors * lanes
                    ):
                        continue
                    cut = masked and columns % (vectors * lanes) > 0
                    cut = cut and (not packed or steps <= _MANY_STEPS)
                    found = Panels(
                        height, vectors, lanes, packed, stacked, by_rows, cut, fetches=fetches
                    )
                    for deep in _depths(product, machine, found):
                        plan = msgspec.structs.replace(found, deep=deep)
                        cycles = _panel_cycles(product, machine, plan, strided=strided)
                        yield msgspec.structs.replace(plan, cycles=cycles)


def _depths(product: MatrixProduct, machine: Machine, plan: Panels) -> list[int]:
    """List how many steps to pack at a time: all, and as many as fit into a part of the second
    cache beside the rows of a tile, in blocks of about the same size."""
    steps = product.sizes[2]
    wide = plan.columns * product.wide.load.buffer.dtype.bytes
    if (
        not plan.packed
        or product.rows is None
        or product.is_open
        or steps * wide <= machine.l2 // 2
    ):
        return [0]
    blocks = -(-steps * wide // (machine.l2 // 8))
    return [0, -(-steps // blocks)]


def _fits_memory(product: MatrixProduct, rows: int, columns: int) -> bool:
    """Return True if copies padded to tiles of so many rows and columns, 0 for no copy, are not
    much larger than what is read."""
    if product.is_open:
        return True
    copied, read = 0.0, 0
    for factor, axis, by in (
        (product.tall, product.rows, rows),
        (product.wide, product.columns, columns),
    ):
        size = factor.elements() * factor.load.buffer.dtype.bytes
        count = 1 if axis is None else as_int(axis.extent) or 1
        copied += size * (-(-count // by) * by / count) if by else 0
        read += size
    return copied <= MOST_COPIED * read


def _is_scattered(product: MatrixProduct, machine: Machine) -> bool:
    """Return True if each step of the rows is far away from the last, and in many pages in all."""
    if product.rows is None or product.tall.is_contiguous_along(product.steps):
        return False
    return product.sizes[2] * product.tall.row_bytes() > 4 * machine.l2


def _reads_lines(product: MatrixProduct) -> bool:
    """Return True if each step reads the rows of a tile from another line."""
    return product.rows is not None and not product.tall.is_contiguous_along(product.steps)


def _panel_cycles(
    product: MatrixProduct, machine: Machine, plan: Panels, *, strided: bool
) -> float:
    rows, columns, steps = product.sizes
    down, across = -(-rows // plan.rows), -(-columns // plan.columns)
    sums = plan.rows * plan.vectors
    step = _cycles_of_step(machine, sums, (plan.rows + plan.vectors) * _LATE)
    width = product.wide.load.buffer.dtype.bytes
    deep = plan.deep or steps
    panel = deep * plan.columns * width
    is_far = product.wide.elements() * width > machine.l2 // 2
    first = machine.far if is_far else machine.near
    apart = product.wide.row_bytes()
    # Rows that a panel covers follow each other in memory.
    jump = _JUMP if is_far and not strided and apart > plan.columns * width + _LINE else 0
    near = 0.0 if panel <= machine.l1 // 2 else machine.near
    if plan.packed:
        fetch = near if panel <= machine.l2 // 2 else machine.far
        fill = plan.columns * _MOVED if strided else plan.vectors * (2 * first + 1) + jump
        fill = steps * fill + 100
    else:
        clash = apart % _CONFLICT == 0 and steps * apart > machine.l2
        fetch = machine.far if clash or panel > machine.l2 // 2 else 2 * near
        fetch += 0.5 if columns % plan.lanes else 0.0
        fill = steps * (plan.vectors * max(0.0, first - fetch) + jump)
    stored = plan.rows * (plan.vectors + 1) * _STORED * (plan.lanes if product.is_turned else 1)
    once = 0.0
    streamed = product.tall.elements() * width > machine.l1 // 2
    if plan.stacked:
        once = rows * steps * _NEW
        step += plan.rows * width / _LINE * _STREAMED if streamed else 0.0
    elif _is_scattered(product, machine):
        step += _SCATTERED
    elif _reads_lines(product):
        lines = 1 + (plan.rows - 1) * width / _LINE
        far = product.tall.elements() * width > machine.l2 // 2
        once = down * steps * lines * _SCATTERED if far else 0.0
        step += _FETCHED * lines if steps * lines * _LINE + panel > 0.75 * machine.l1 else 0.0
    elif streamed:
        step += plan.rows * width / _LINE * _STREAMED
    tile = steps * (step + fetch * plan.vectors) + stored + _START
    if plan.deep:
        tile += -(-steps // deep) * (sums * _ADDED_TO + _START)
    return across * (down * tile + fill) + once


def _cycles_of_step(machine: Machine, multiplied: int, loaded: float) -> float:
    return max(multiplied / machine.multiplied, loaded / machine.loaded, machine.latency)


def _dots(product: MatrixProduct, machine: Machine) -> Iterator[Dots]:
    rows, columns, steps = product.sizes
    lanes = _lanes(product, machine)
    factors = (product.tall, product.wide)
    moved = _moved(product)
    if steps < lanes or lanes < 2 or 2 * moved > sum(each.elements() for each in factors):
        return
    for height in range(1, min(rows, 8) + 1):
        for width in range(1, min(columns, 8) + 1):
            for unroll in (1, 2, 4, 8):
                sums = height * width * unroll
                loaded = (min(height, width) + 1) * unroll
                if sums <= _MOST_SUMS and sums + loaded < machine.vector_registers:
                    found = Dots(height, width, unroll, lanes)
                    cycles = _dot_cycles(product, machine, found) + moved * _MOVED
                    yield msgspec.structs.replace(found, cycles=cycles)


def _moved(product: MatrixProduct) -> int:
    """Return the number of elements to copy so that steps are neighbours."""
    factors = (product.tall, product.wide)
    copied = [each for each in factors if not each.is_contiguous_along(product.steps)]
    return sum(each.elements() for each in copied)


def _dot_cycles(product: MatrixProduct, machine: Machine, plan: Dots) -> float:
    rows, columns, steps = product.sizes
    down, across = -(-rows // plan.rows), -(-columns // plan.columns)
    times, sums = math.ceil(steps / plan.width), plan.rows * plan.columns
    both = (plan.rows + plan.columns) * plan.unroll
    step = _cycles_of_step(machine, sums * plan.unroll, both)
    bytes_of = product.wide.load.buffer.dtype.bytes
    first = machine.far if product.wide.elements() * bytes_of > machine.l2 // 2 else machine.near
    again = 2 * machine.near if (plan.columns + rows) * steps * bytes_of > machine.l1 // 2 else 0.0
    fetch = times * plan.columns * plan.unroll
    tile = times * (step + both * again) + sums * (_ADDED + plan.unroll) + _START
    return across * (down * tile + fetch * first)
