"""The primitive read_at: read a copy that is filled in each iteration of a loop."""

from irkit.core import walk
from irkit.ir import Block, Buffer, PrimFunc, Var
from irkit.schedule.rewrite.staged_copy import Staged, StagedCopy, loop_around_block


def read_at(func: PrimFunc, var: Var, name: str, buffer: Buffer, scope: str) -> Staged:
    """Make a block read a copy of the part of a buffer that it reads in each iteration of a loop,
    filled at the start of the iteration.

    Raises: ScheduleError if the block is not under the loop or does not read the buffer, or
    something there writes it.
    """
    loop, block = loop_around_block(func, var, name)
    stage = StagedCopy(func, loop.body, buffer, scope, "read_at")
    if stage.stores:
        raise stage.error("it is written there", block)
    inner = {id(each) for each in walk(block, on=Block)}
    stage.loads = [touch for touch in stage.loads if id(touch.block) in inner]
    return stage.made(block, block)
