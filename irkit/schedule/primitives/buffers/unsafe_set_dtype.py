"""The primitive unsafe_set_dtype: change the type of a buffer."""

from irkit.core import Node, ScheduleError, rewrite
from irkit.ir import Allocate, Buffer, DType, Load, PrimFunc, Store, cast
from irkit.schedule.checks.block_buffers import buffer_written, own_buffer
from irkit.schedule.state.lookup import find_block


def unsafe_set_dtype(
    func: PrimFunc, name: str, dtype: DType, buffer: Buffer | str | int = 0
) -> PrimFunc:
    """Change the type of a buffer that a block writes; stores convert to it and loads from it,
    which may change results.

    Raises: ScheduleError if the buffer is a parameter, or the type is a vector.
    """
    block = find_block(func, name)
    old = buffer_written(func, name, buffer)
    what = f"store {old.name!r} as {dtype}"
    own_buffer(func, block, old, what)
    if dtype.lanes != 1:
        raise ScheduleError(f"cannot {what}: an element cannot be a vector", at=block)
    new = old.replace(dtype=dtype)

    def convert(node: Load | Store | Allocate) -> Node | None:
        if node.buffer is not old:
            return None
        if isinstance(node, Load):
            there = node.replace(buffer=new, dtype=dtype.with_lanes(node.dtype.lanes))
            return cast(there, old.dtype)
        if isinstance(node, Store):
            return node.replace(buffer=new, value=cast(node.value, dtype))
        return node.replace(buffer=new)

    return rewrite(func, convert, on=(Load, Store, Allocate))
