"""The default schedule of a kernel, chosen by the structure of its loops, not by the operator's
name.

A sum of products becomes a register tile: vector lanes along the last axis, an unrolled axis that
one operand does not depend on, accumulators in registers, and the epilogue (bias, activation,
residual) computed on the tile before it is stored. Other reductions keep their accumulators in
registers too; everything else is vectorized along the last axis. Nests with enough work get a
parallel loop.
"""

from collections.abc import Callable

import msgspec

from irkit.core import ScheduleError, any_node, substitute, walk
from irkit.ir import (
    Add,
    Axis,
    Block,
    Buffer,
    Call,
    Conditional,
    Const,
    Expr,
    Load,
    Mul,
    PrimFunc,
    Store,
    Var,
    as_int,
    const,
    is_const,
    linear,
    simplify,
)
from irkit.schedule import (
    BlockRef,
    LoopRef,
    Schedule,
    allocation,
    only_store,
    reads_of,
    variables,
    writes_of,
)
from irkit.topi.threads import mark_parallel

VECTOR_BYTES = 64
_FEWEST_LANES = 4
_MOST_STEP = 4
_MOST_VECTORS = 2


def default_schedule(func: PrimFunc, *, vector_bytes: int = VECTOR_BYTES) -> PrimFunc:
    """Schedule a function made by ``te.create_prim_func``.

    What no rule can handle stays as plain loops, which are correct but slower.
    Units: ``vector_bytes`` is the size of a vector register in bytes.
    """
    sch = Schedule(func, check="off")
    _inline(sch)
    for block in _blocks(sch):
        if block.init is not None:
            sch = _apply_rule(_reduction, sch, block, vector_bytes)
    for block in _blocks(sch):
        if block.init is None and not _is_scheduled(sch, block):
            sch = _apply_rule(_pointwise, sch, block, vector_bytes)
    mark_parallel(sch)
    return sch.func


def _apply_rule(
    rule: Callable[[Schedule, Block, int], None], sch: Schedule, block: Block, vector_bytes: int
) -> Schedule:
    """Apply a rule completely or not at all: half of one could be slower than none."""
    trial = Schedule(sch.func, check="off")
    try:
        rule(trial, block, vector_bytes)
    except ScheduleError:
        return sch
    return trial


def _blocks(sch: Schedule) -> list[Block]:
    return list(walk(sch.func, on=Block))


def _is_scheduled(sch: Schedule, block: Block) -> bool:
    loops = sch.get_loops(BlockRef(block.name))
    return any(sch.loop(loop).kind != "serial" for loop in loops)


def _inline(sch: Schedule) -> None:
    """Inline every stage that costs nothing or that only one pointwise stage reads, once."""
    for block in _blocks(sch):
        store = only_store(block)
        if store is None or block.init is not None:
            continue
        readers = reads_of(sch.func, store.buffer)
        once = len(readers) == 1 and readers[0].init is None and _loads(readers[0], store) == 1
        if once or (readers and _is_free(block, store, readers)):
            try:
                sch.compute_inline(BlockRef(block.name))
            except ScheduleError:
                continue


def _loads(reader: Block, store: Store) -> int:
    return sum(load.buffer is store.buffer for load in walk(reader.body, on=Load))


def _is_free(block: Block, store: Store, readers: list[Block]) -> bool:
    """Return True if a value is a constant or a load, without arithmetic or a select.

    If a reduction reads it, neighbouring elements must also stay neighbours.
    """
    value = store.value
    if not isinstance(value, (Const, Load)) or any_node(value, (Call, Conditional)):
        return False
    if isinstance(value, Const) or all(reader.init is None for reader in readers):
        return True
    last = block.axes[-1].var if block.axes else None
    plain = bool(value.indices) and value.indices[-1] is last
    return plain or last not in variables(value)


def _is_any(load: Load) -> bool:
    return True


class _Product:
    """A sum of products: its two operands, and which axes each of them depends on."""

    def __init__(self, block: Block, store: Store) -> None:
        value = store.value
        term = value.b if isinstance(value, Add) and isinstance(value.a, Load) else None
        self.operands = [term.a, term.b] if isinstance(term, Mul) else []
        self.matches = bool(self.operands) and all(
            any_node(side, Load, _is_any) for side in self.operands
        )

    def moves(self, operand: Expr, axis: Axis) -> bool:
        return axis.var in variables(operand)


class _Tile(msgspec.Struct, frozen=True):
    """The tile of a reduction: ``rows`` along one axis by ``vectors`` of ``lanes`` along the line.

    The line is the last spatial axis, or the last two ``fused`` into one; ``row`` is the position
    of the row axis among the spatial axes, or -1.
    """

    fused: bool
    extent: int
    lanes: int
    vectors: int
    row: int
    rows: int

    def layout(self, *indices: Expr) -> list[Expr]:
        """Map indices to a layout in which the elements of a tile are contiguous."""
        place, count = indices[-1], len(indices) - 1
        if self.fused:
            place, count = indices[-2] * self.extent + place, count - 1
        head: list[Expr] = []
        for number, index in enumerate(indices[:count]):
            cut = number == self.row
            head += [index // self.rows, index % self.rows] if cut else [index]
        lanes, vectors = self.lanes, self.vectors
        return [*head, place // (vectors * lanes), place // lanes % vectors, place % lanes]


def _tile_of(block: Block, store: Store, vector_bytes: int) -> _Tile | None:
    """Choose a tile; None if the line is too short or an extent is not constant."""
    spatial = _spatial(block)
    if not spatial or any(as_int(axis.extent) is None for axis in block.axes):
        return None
    last, extent = spatial[-1], as_int(spatial[-1].extent) or 0
    fused = len(spatial) > 1 and _moves_as_one(block, store, spatial[-2], last)
    whole = extent * (as_int(spatial[-2].extent) or 0) if fused else extent
    if whole < _FEWEST_LANES:
        return None
    lanes = max(1, vector_bytes // store.buffer.dtype.bytes)
    lanes = min(lanes, 1 << (whole - 1).bit_length())  # A short line uses a short vector.
    vectors = min(_MOST_VECTORS, -(-whole // lanes))
    row = _row_axis(_Product(block, store), spatial, last)
    # Half of the registers hold accumulators: there are 32 of the widest kind, 16 of the others.
    most = (16 if vector_bytes >= 64 else 8) // vectors
    rows = _divisor(as_int(row.extent) or 1, most) if row is not None else 1
    beside = row is not None and rows > 1 and not (fused and row is spatial[-2])
    place = spatial.index(row) if row is not None and beside else -1
    return _Tile(fused, extent, lanes, vectors, place, rows if beside else 1)


def _spatial(block: Block) -> list[Axis]:
    return [axis for axis in block.axes if axis.kind == "spatial"]


def _reduction(sch: Schedule, block: Block, vector_bytes: int) -> None:
    """Tile a reduction so that accumulators stay in registers, and finish each tile before the
    next."""
    store = only_store(block)
    tile = None if store is None else _tile_of(block, store, vector_bytes)
    if store is None or tile is None:
        return
    ref = BlockRef(block.name)
    _unstride(sch, block, store, tile)
    epilogue = _epilogue(sch, block, store)
    far, reduced = _tile_loops(sch, block, tile)
    sch.reverse_compute_at(epilogue, far)
    sch.overcompute(ref)
    if reduced:
        sch.decompose_reduction(ref, reduced[0])
    sch.transform_layout(ref, tile.layout)
    sch.set_scope(ref, "local")


def _tile_loops(sch: Schedule, block: Block, tile: _Tile) -> tuple[LoopRef, list[LoopRef]]:
    """Split, order and mark the loops; return the loop around a tile, and the reduction loops."""
    loops = sch.get_loops(BlockRef(block.name))
    by_axis = list(zip(block.axes, loops, strict=True))
    outer = [loop for axis, loop in by_axis if axis.kind == "spatial"]
    reduced = [loop for axis, loop in by_axis if axis.kind == "reduce"]
    line = outer.pop()
    if tile.fused:
        line = sch.fuse(outer.pop(), line)
    far, near, lane = sch.split(line, [None, tile.vectors, tile.lanes])
    inner = [near, lane]
    if tile.row >= 0:
        outer[tile.row], low = sch.split(outer[tile.row], [None, tile.rows])
        inner.insert(0, low)
    sch.reorder(*outer, far, *reduced, *inner)
    for loop in inner[:-1]:
        sch.unroll(loop)
    sch.vectorize(lane)
    return far, reduced


def _unstride(sch: Schedule, block: Block, store: Store, tile: _Tile) -> None:
    """Make the lanes of a tile read neighbours: an input that is read at every s-th element is
    stored by remainders of s."""
    if tile.row < 0:
        return
    line = _spatial(block)[-1].var
    for load in list(walk(block.body, on=Load)):
        step = _step(load, line)
        if load.buffer is store.buffer or not 1 < step <= _MOST_STEP:
            continue

        def by_remainder(*indices: Expr, step: int = step) -> list[Expr]:
            return [*indices[:-1], indices[-1] % step, indices[-1] // step]

        made = _producer(sch, load.buffer) or sch.cache_read(BlockRef(block.name), load.buffer)
        sch.transform_layout(made, by_remainder)


def _step(load: Load, var: Var) -> int:
    """Return the stride of the last index of a load along a variable; 0 if unknown."""
    form = linear(load.indices[-1]) if load.indices else None
    return 0 if form is None else form.coefficient(var)


def _producer(sch: Schedule, buffer: Buffer) -> BlockRef | None:
    """Return the block that alone computes an intermediate buffer element by element, or None."""
    writers = writes_of(sch.func, buffer)
    if allocation(sch.func, buffer) is None or len(writers) != 1 or writers[0].init is not None:
        return None
    return BlockRef(writers[0].name) if len(reads_of(sch.func, buffer)) == 1 else None


def _moves_as_one(block: Block, store: Store, outer: Axis, inner: Axis) -> bool:
    """Return True if two axes are always the last two indices together, and cover those
    dimensions."""
    pair = (outer, inner)
    own = {outer.var, inner.var}
    unit = {axis.var: const(0, axis.var.dtype) for axis in block.axes if is_const(axis.extent, 1)}
    for access in (*walk(block.body, on=Load), store):
        indices = [simplify(substitute(index, unit)) for index in access.indices]
        if not any(own & variables(index) for index in indices):
            continue
        if indices[-2:] != [outer.var, inner.var] or access.buffer.strides is not None:
            return False
        if any(own & variables(index) for index in indices[:-2]):
            return False
        dims = access.buffer.shape[-2:]
        if any(as_int(dim) != as_int(axis.extent) for dim, axis in zip(dims, pair, strict=True)):
            return False
    return True


def _row_axis(product: _Product, spatial: list[Axis], last: Axis) -> Axis | None:
    """Find the axis to unroll: the vectorized operand does not depend on it, so its vectors are
    reused."""
    if not product.matches:
        return None
    carriers = [side for side in product.operands if product.moves(side, last)]
    if len(carriers) != 1:
        return None
    free = [axis for axis in spatial[:-1] if not product.moves(carriers[0], axis)]
    return max(free, key=lambda axis: as_int(axis.extent) or 0, default=None)


def _divisor(extent: int, most: int) -> int:
    """Return the largest divisor of an extent that is at most ``most``."""
    return max(size for size in range(1, most + 1) if extent % size == 0)


def _epilogue(sch: Schedule, block: Block, store: Store) -> BlockRef:
    """Return the block to run on each finished tile: the only consumer, or a new copy."""
    readers = reads_of(sch.func, store.buffer)
    spatial = {axis.var for axis in block.axes if axis.kind == "spatial"}
    if len(readers) == 1 and _reads_alike(readers[0], store, len(spatial)):
        return BlockRef(readers[0].name)
    return sch.cache_write(BlockRef(block.name))


def _reads_alike(reader: Block, store: Store, rank: int) -> bool:
    if reader.init is not None or only_store(reader) is None or len(reader.axes) != rank:
        return False
    own = [axis.var for axis in reader.axes]
    loads = [load for load in walk(reader.body, on=Load) if load.buffer is store.buffer]
    target = only_store(reader)
    assert target is not None
    return list(target.indices) == own and all(list(load.indices) == own for load in loads)


def _pointwise(sch: Schedule, block: Block, vector_bytes: int) -> None:
    """Vectorize a pointwise stage along the last axis."""
    store = only_store(block)
    if store is None or not block.axes or block.predicate is not None:
        return
    last = block.axes[-1]
    extent = as_int(last.extent)
    lanes = max(1, vector_bytes // store.buffer.dtype.bytes)
    if extent is None or extent < lanes or store.indices[-1:] != (last.var,):
        return
    _, lane = sch.split(sch.get_loops(BlockRef(block.name))[-1], [None, lanes])
    sch.vectorize(lane)
