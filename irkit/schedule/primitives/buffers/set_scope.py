"""The primitive set_scope: change the scope of the buffers that a block writes."""

from irkit.core import ScheduleError
from irkit.ir import PrimFunc
from irkit.schedule.analysis.accesses import written_by
from irkit.schedule.state.lookup import allocation, find_block
from irkit.schedule.state.replace import replace_buffer


def set_scope(func: PrimFunc, name: str, scope: str) -> PrimFunc:
    """Change the scope of all buffers that a block writes, for example to ``local``.

    Raises: ScheduleError if one of them is a parameter.
    """
    block = find_block(func, name)
    written = sorted(written_by(block), key=lambda buffer: buffer.name)
    for old in written:
        if allocation(func, old) is None:
            raise ScheduleError(
                f"cannot set the scope of what block {name!r} writes: {old.name!r} is a parameter",
                hint="The caller decides the layout and scope of parameters.",
                at=block,
            )
    for old in written:
        func = replace_buffer(func, old, old.replace(scope=scope))
    return func
