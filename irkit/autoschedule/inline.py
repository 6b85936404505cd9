"""Inline the stages that cost nothing where they are read."""

from irkit.autoschedule.structure import blocks_of
from irkit.core import ScheduleError, any_node, walk
from irkit.ir import Block, Call, Conditional, Const, Load, Store
from irkit.schedule import BlockRef, Schedule, only_store, reads_of, variables


def inline_stages(sch: Schedule, *, kept: frozenset[str] = frozenset()) -> None:
    """Inline every stage that costs nothing or that only one pointwise stage reads, once; not those
    whose names are ``kept``."""
    for block in blocks_of(sch):
        store = only_store(block)
        if store is None or block.init is not None or block.name in kept:
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
