"""The primitive cache_inplace: update a copy of a buffer instead of the buffer."""

from irkit.ir import Buffer, PrimFunc
from irkit.schedule.rewrite.staged_copy import Staged, StagedCopy
from irkit.schedule.state.lookup import find_block, nest_of


def cache_inplace(func: PrimFunc, name: str, buffer: Buffer, scope: str) -> Staged:
    """Make a block that updates a buffer in place work on a copy, filled before its loops and
    copied back after them.

    Raises: ScheduleError if the block does not read and write the buffer.
    """
    block = find_block(func, name)
    stage = StagedCopy(func, nest_of(func, block), buffer, scope, "cache_inplace")
    if not (stage.loads and stage.stores):
        raise stage.error(f"block {name!r} does not both read and write it", block)
    return stage.made(stage.root, block)
