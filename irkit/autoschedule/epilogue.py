"""Find the block that finishes the results of a reduction: bias, activation, residual, cast."""

from irkit.core import walk
from irkit.ir import Block, Load, Store
from irkit.schedule import BlockRef, Schedule, only_store, reads_of


def epilogue_of(sch: Schedule, block: Block, store: Store) -> BlockRef | None:
    """Return the only consumer of a reduction if it reads results one for one, else None."""
    readers = reads_of(sch.func, store.buffer)
    spatial = {axis.var for axis in block.axes if axis.kind == "spatial"}
    if len(readers) == 1 and _reads_alike(readers[0], store, len(spatial)):
        return BlockRef(readers[0].name)
    return None


def _reads_alike(reader: Block, store: Store, rank: int) -> bool:
    if reader.init is not None or only_store(reader) is None or len(reader.axes) != rank:
        return False
    own = [axis.var for axis in reader.axes]
    loads = [load for load in walk(reader.body, on=Load) if load.buffer is store.buffer]
    target = only_store(reader)
    assert target is not None
    return list(target.indices) == own and all(list(load.indices) == own for load in loads)
