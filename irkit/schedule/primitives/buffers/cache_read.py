"""The primitive cache_read: read a copy of a buffer."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, rewrite, walk
from irkit.ir import Allocate, Buffer, Load, PrimFunc, Seq, Stmt, replace_stmts, seq
from irkit.schedule.analysis.accesses import read_by, written_by
from irkit.schedule.checks.independence import check_whole_copy
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import buffer_copy_nest
from irkit.schedule.state.lookup import find_block, nest_of


def cache_read(
    func: PrimFunc, name: str, buffer: Buffer, scope: str, consumers: Sequence[str] = ()
) -> tuple[PrimFunc, str]:
    """Make a block, and other ``consumers``, read a copy of a buffer, filled by a new block before
    the loops of the first one.

    The copying block is named ``NAME_BUFFER``.
    Shapes: the new buffer has the shape of the old one.
    Raises: ScheduleError if a block does not read the buffer, or anything writes it between the
    copy and the last of them.
    """
    blocks = [find_block(func, each) for each in dict.fromkeys((name, *consumers))]
    for block in blocks:
        if buffer not in read_by(block):
            raise ScheduleError(f"block {block.name!r} does not read {buffer.name!r}", at=block)
    around, first, last = _span_of(func, [nest_of(func, block) for block in blocks])
    for stmt in around[first : last + 1]:
        if buffer in written_by(stmt):
            raise ScheduleError(
                f"cannot cache what block {name!r} reads: {buffer.name!r} is written in the same "
                "loops",
                at=blocks[0],
            )
    check_whole_copy(func, around[first], buffer, f"cache what block {name!r} reads")
    span = Span("schedule", "cache_read", parent=blocks[0].span)
    new = buffer.replace(name=f"{buffer.name}_{scope}", scope=scope, strides=None)

    def move(load: Load) -> Load | None:
        return load.replace(buffer=new) if load.buffer is buffer else None

    made = new_name(func, f"{name}_{buffer.name}")
    copied = buffer_copy_nest(made, buffer, new, span)
    changes: dict[Stmt, Stmt] = {
        block: rewrite(block, move, on=Load).replace(reads=None) for block in blocks
    }
    stmts = [replace_stmts(stmt, changes) for stmt in around]
    whole = Allocate(new, seq(copied, *stmts[first:]), span=span)
    old = around[0] if len(around) == 1 else _parent(func, around)
    return replace_stmts(func, {old: seq(*stmts[:first], whole)}), made


def _span_of(func: PrimFunc, tops: Sequence[Stmt]) -> tuple[tuple[Stmt, ...], int, int]:
    """Return the sequence that contains some statements, and the positions of the first and last
    one.

    Raises: ScheduleError if there is no such sequence.
    """
    if len(set(map(id, tops))) == 1:
        return (tops[0],), 0, 0
    for parent in walk(func, on=Seq):
        places = [
            at
            for at, stmt in enumerate(parent.stmts)
            if any(top is below for top in tops for below in walk(stmt, on=Stmt))
        ]
        inside = sum(any(top is below for below in walk(parent, on=Stmt)) for top in tops)
        if inside == len(tops) and len(places) > 1:
            return parent.stmts, places[0], places[-1]
    raise ScheduleError("the blocks that would share a copy are not in one sequence of statements")


def _parent(func: PrimFunc, stmts: tuple[Stmt, ...]) -> Seq:
    return next(parent for parent in walk(func, on=Seq) if parent.stmts is stmts)
