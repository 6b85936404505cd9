"""Resolve an argument to a buffer that a block reads or writes."""

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, Block, Buffer, Load, PrimFunc, Store, View
from irkit.schedule.analysis.accesses import written_by
from irkit.schedule.state.lookup import allocation, find_block


def buffer_read(func: PrimFunc, name: str, given: Buffer | str | int) -> Buffer:
    """Return a buffer that a block reads, given as itself, by its name, or by its position.

    Raises: ScheduleError if there is none.
    """
    if isinstance(given, Buffer):
        return given
    return _among(find_block(func, name), given, Load, "reads")


def buffer_written(func: PrimFunc, name: str, given: Buffer | str | int = 0) -> Buffer:
    """Return a buffer that a block writes, given as itself, by its name, or by its position."""
    if isinstance(given, Buffer):
        return given
    return _among(find_block(func, name), given, Store, "writes")


def _among(block: Block, given: str | int, kind: type[Load] | type[Store], verb: str) -> Buffer:
    found: list[Buffer] = []
    for node in walk(block, on=kind):
        if node.buffer not in found:
            found.append(node.buffer)
    if isinstance(given, int):
        chosen = found[given : given + 1] if given >= 0 else []
    else:
        chosen = [buffer for buffer in found if buffer.name == given]
    if not chosen:
        known = ", ".join(buffer.name for buffer in found) or "nothing"
        raise ScheduleError(
            f"block {block.name!r} {verb} no buffer {given!r}; it {verb}: {known}", at=block
        )
    return chosen[0]


def own_buffer_written(func: PrimFunc, name: str) -> Buffer:
    block = find_block(func, name)
    written = written_by(block)
    buffer = next(iter(written), None)
    if buffer is None or len(written) > 1 or allocation(func, buffer) is None:
        raise ScheduleError(
            f"block {name!r} does not write exactly one intermediate buffer",
            hint="The caller decides the layout and scope of parameters.",
            at=block,
        )
    return buffer


def own_buffer(func: PrimFunc, block: Block, buffer: Buffer, what: str) -> Allocate:
    """Return the allocation of a buffer that a block writes.

    Raises: ScheduleError if it is a parameter, the block does not write it, or a view aliases it.
    """
    home = allocation(func, buffer)
    reason = ""
    if home is None:
        reason = "it is a parameter, which belongs to the caller"
    elif buffer not in written_by(block):
        reason = f"block {block.name!r} does not write it"
    elif any(view.source is buffer for view in walk(func, on=View)):
        reason = "it is aliased by a view"
    if home is None or reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    return home
