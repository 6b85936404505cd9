"""The primitive set_scope: keep a buffer in another scope."""

from irkit.ir import PrimFunc
from irkit.schedule.checks.block_buffers import own_buffer_written
from irkit.schedule.state.replace import replace_buffer


def set_scope(func: PrimFunc, name: str, scope: str) -> PrimFunc:
    """Keep the buffer that a block writes in another scope, such as ``local``.

    Raises: ScheduleError if the buffer is a parameter.
    """
    old = own_buffer_written(func, name)
    return replace_buffer(func, old, old.replace(scope=scope))
