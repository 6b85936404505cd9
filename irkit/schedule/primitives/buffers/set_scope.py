"""The primitive set_scope: change the scope of a buffer."""

from irkit.ir import PrimFunc
from irkit.schedule.checks.block_buffers import own_buffer_written
from irkit.schedule.state.replace import replace_buffer


def set_scope(func: PrimFunc, name: str, scope: str) -> PrimFunc:
    """Change the scope of the buffer that a block writes, for example to ``local``.

    Raises: ScheduleError if the buffer is a parameter.
    """
    old = own_buffer_written(func, name)
    return replace_buffer(func, old, old.replace(scope=scope))
