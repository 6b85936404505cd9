"""Recognise products whose rows and results are both transformed by sums of neighbours.

The stages, each read by the next one only: lines of tiles, transformed along one side; tiles,
transformed along the other; a product of matrices for each position in a tile; columns of results,
transformed back along one side; and results.
"""

from typing import NamedTuple

from irkit.autoschedule.structure import blocks_of, spatial_axes
from irkit.core import walk
from irkit.ir import Add, Axis, Block, Buffer, FloorDiv, Load, Mul, Store, Var, as_int
from irkit.schedule import Schedule, allocation, only_store, reads_of, variables, writes_of

_AXES = 5
"""Axes of the results: images, channels, rows, columns and lanes."""
_OTHERS = 3
"""Axes of the other operand alone: panels, vectors and lanes."""


class TransformedProduct(NamedTuple):
    """The stages of such a product, and its axes.

    ``padded`` copies what the lines read, if a stage does; ``finish`` are the results.
    ``positions`` are axes of both operands, and the dimensions ``position_dims`` of the tiles.
    ``factors`` is the other operand.
    ``row`` and the axes before it belong to the tiles alone; ``panels``, ``vector`` and ``lane`` to
    the other operand alone.
    """

    padded: Block | None
    lines: Block
    tiles: Block
    product: Block
    columns: Block
    finish: Block
    positions: tuple[Axis, ...]
    position_dims: tuple[int, ...]
    factors: Buffer
    panels: tuple[Axis, ...]
    row: Axis
    vector: Axis
    lane: Axis


def stages_of_transforms(sch: Schedule) -> frozenset[str]:
    """Return the names of stages that are not to be inlined: they share values with their
    neighbours."""
    names: set[str] = set()
    for block in blocks_of(sch):
        found = transformed_product_of(sch, block)
        if found is not None:
            kept = [found.padded, found.lines, found.tiles, found.columns]
            if not is_read_alike(sch, found.finish):
                kept.append(found.finish)
            names |= {each.name for each in kept if each is not None}
    return frozenset(names)


def transformed_product_of(sch: Schedule, block: Block) -> TransformedProduct | None:
    """Return the stages around a product; None if it is no such product."""
    store = only_store(block)
    term = None if store is None or block.init is None else _term(store)
    if store is None or term is None:
        return None
    own, other = term
    tiles = _producer(sch, own.buffer)
    lines = None if tiles is None else _source(sch, tiles)
    columns = _reader(sch, store.buffer)
    finish = None if columns is None else _transforming_reader(sch, columns)
    if tiles is None or lines is None or columns is None or finish is None:
        return None
    spatial = spatial_axes(block)
    if list(store.indices) != [axis.var for axis in spatial] or len(spatial) < _AXES:
        return None
    if any(as_int(axis.extent) is None for axis in block.axes[1:]):
        return None
    rows, factors = _used(own), _used(other)
    positions = tuple(axis for axis in spatial if axis.var in rows & factors)
    alone = [axis for axis in spatial if axis.var in rows - factors]
    others = [axis for axis in spatial if axis.var in factors - rows]
    if not positions or not alone or len(others) < _OTHERS or others[-1] is not spatial[-1]:
        return None
    *panels, vector, lane = others
    if len(finish.axes) != _AXES or len(columns.axes) != len(spatial):
        return None
    moved = {axis.var for axis in positions}
    dims = tuple(at for at, index in enumerate(own.indices) if index in moved)
    made = only_store(tiles)
    assert made is not None
    if len(dims) != len(positions) or list(made.indices) != [axis.var for axis in tiles.axes]:
        return None
    return TransformedProduct(
        _source(sch, lines),
        lines,
        tiles,
        block,
        columns,
        finish,
        positions,
        dims,
        other.buffer,
        tuple(panels),
        alone[-1],
        vector,
        lane,
    )


def divisors(block: Block, axis: Axis) -> list[int]:
    """Return the numbers that an axis is divided by in a stage, the largest first."""
    found: set[int] = set()
    for each in walk(block.body, on=FloorDiv):
        number = as_int(each.b)
        if number is not None and number > 1 and variables(each.a) == {axis.var}:
            found.add(number)
    return sorted(found, reverse=True)


def epilogue_of_results(sch: Schedule, finish: Block) -> Block | None:
    """Return the only stage that reads results one for one, if there is one."""
    store = only_store(finish)
    readers = [] if store is None else reads_of(sch.func, store.buffer)
    return readers[0] if len(readers) == 1 and is_read_alike(sch, finish) else None


def _term(store: Store) -> tuple[Load, Load] | None:
    """Return the operands of a sum of products, the one that depends on more axes first."""
    value = store.value
    if not isinstance(value, Add) or not isinstance(value.a, Load) or not isinstance(value.b, Mul):
        return None
    a, b = value.b.a, value.b.b
    if value.a.buffer is not store.buffer or not isinstance(a, Load) or not isinstance(b, Load):
        return None
    return a, b


def _used(load: Load) -> set[Var]:
    return {var for index in load.indices for var in variables(index)}


def _pointwise(block: Block | None) -> bool:
    return block is not None and block.init is None and only_store(block) is not None


def _producer(sch: Schedule, buffer: Buffer) -> Block | None:
    """Return the pointwise stage that alone makes an intermediate buffer for a single reader."""
    writers = writes_of(sch.func, buffer)
    if allocation(sch.func, buffer) is None or len(writers) != 1 or not _pointwise(writers[0]):
        return None
    return writers[0] if len(reads_of(sch.func, buffer)) == 1 else None


def _source(sch: Schedule, block: Block) -> Block | None:
    """Return the stage whose neighbours another one adds, if it adds those of a single buffer."""
    loads = list(walk(block.body, on=Load))
    buffers = {load.buffer for load in loads}
    return _producer(sch, loads[0].buffer) if len(buffers) == 1 and len(loads) > 1 else None


def _reader(sch: Schedule, buffer: Buffer) -> Block | None:
    """Return the pointwise stage that alone reads an intermediate buffer, and at several places."""
    readers = reads_of(sch.func, buffer)
    if allocation(sch.func, buffer) is None or len(readers) != 1 or not _pointwise(readers[0]):
        return None
    loads = [load for load in walk(readers[0].body, on=Load) if load.buffer is buffer]
    return readers[0] if len(loads) > 1 else None


def _transforming_reader(sch: Schedule, block: Block) -> Block | None:
    store = only_store(block)
    return None if store is None else _reader(sch, store.buffer)


def is_read_alike(sch: Schedule, block: Block) -> bool:
    """Return True if at most one stage reads a stage's results, each at its own place."""
    store = only_store(block)
    assert store is not None
    readers = reads_of(sch.func, store.buffer)
    if not readers:
        return True
    target = only_store(readers[0]) if len(readers) == 1 else None
    if target is None or not _pointwise(readers[0]):
        return False
    own = [axis.var for axis in readers[0].axes]
    loads = [load for load in walk(readers[0].body, on=Load) if load.buffer is store.buffer]
    return list(target.indices) == own and all(list(load.indices) == own for load in loads)
