"""The primitive write_at: write to a copy that is copied back at the end of each iteration."""

from irkit.core import walk
from irkit.ir import Block, Buffer, PrimFunc, Var
from irkit.schedule.rewrite.staged_copy import Staged, StagedCopy, loop_around_block


def write_at(func: PrimFunc, var: Var, name: str, buffer: Buffer, scope: str) -> Staged:
    """Make a block write to a copy, which is copied to the buffer at the end of each iteration of a
    loop.

    Raises: ScheduleError if the block is not under the loop or does not write the buffer, or
    another block there touches it.
    """
    loop, block = loop_around_block(func, var, name)
    stage = StagedCopy(func, loop.body, buffer, scope, "write_at")
    inner = {id(each) for each in walk(block, on=Block)}
    others = [t for t in (*stage.loads, *stage.stores) if id(t.block) not in inner]
    if others:
        raise stage.error("something else there touches it", block)
    if not stage.stores:
        raise stage.error(f"block {name!r} does not write it", block)
    return stage.made(loop.body, block)
