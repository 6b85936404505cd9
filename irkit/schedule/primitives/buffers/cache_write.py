"""The primitive cache_write: write to a new buffer, which is copied to the old one."""

from irkit.core import ScheduleError, Span
from irkit.ir import Allocate, PrimFunc, replace_stmts, seq
from irkit.schedule.analysis.accesses import only_store, writes_beside
from irkit.schedule.analysis.domain import writes_all
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import buffer_copy_nest
from irkit.schedule.state.lookup import conditions_around, find_block, nest_of
from irkit.schedule.state.replace import replace_buffer


def cache_write(func: PrimFunc, name: str, scope: str) -> tuple[PrimFunc, str]:
    """Make a block write to a new buffer in a scope, which a new block copies to the old one.

    The new block is named ``NAME_copy`` and comes after the loops of the block.
    Shapes: the new buffer has the shape of the old one.
    Raises: ScheduleError if the block is not the only writer, its body is not one store, or it
    cannot be proved to write all of the buffer in its own loops, as all of it is copied back.
    """
    block = find_block(func, name)
    store = only_store(block)
    if store is None or writes_beside(func, block, store.buffer):
        raise ScheduleError(
            f"cannot cache what block {name!r} writes: it must be a single store and the only "
            "writer",
            at=block,
        )
    old = store.buffer
    top = nest_of(func, block)
    facts = conditions_around(func, block)
    if not writes_all(PrimFunc("nest", (), top), block, store, facts):
        raise ScheduleError(
            f"cannot cache what block {name!r} writes: it cannot be proved to write all of "
            f"{old.name!r} in its own loops",
            hint="Use write_at to cache the part that is written in a loop.",
            at=block,
        )
    span = Span("schedule", "cache_write", parent=block.span)
    new = old.replace(name=f"{old.name}_{scope}", scope=scope, strides=None)

    written = replace_buffer(block, old, new)
    made = new_name(func, f"{name}_copy")
    copied = buffer_copy_nest(made, new, old, span)
    func = replace_stmts(func, {block: written})
    top = nest_of(func, written)
    return replace_stmts(func, {top: Allocate(new, seq(top, copied), span=span)}), made
