"""Primitives that put a buffer between computation and memory: cache_read, cache_write."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, rewrite, walk
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    For,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    seq,
)
from irkit.schedule.copies import nest_over, new_name
from irkit.schedule.domain import writes_all
from irkit.schedule.state import (
    exchange,
    exchange_buffer,
    exchange_in,
    find_block,
    only_store,
    path_to,
    writes_of,
)


def cache_write(func: PrimFunc, name: str, scope: str) -> tuple[PrimFunc, str]:
    """Let a block write a new buffer in a scope, and copy that to the old one in a block of its
    own.

    The copy is named ``NAME_copy`` and stands after the loops of the block. Shapes: the new buffer
    has the shape of the old.
    Raises: ScheduleError if the block is not the only writer, its body is not one store, or it is
    not shown to write all of the buffer in loops of its own: all is copied back.
    """
    block = find_block(func, name)
    store = only_store(block)
    if store is None or len(writes_of(func, store.buffer)) != 1:
        raise ScheduleError(
            f"cannot cache what block {name!r} writes: it must be one store, and the only writer",
            at=block,
        )
    old = store.buffer
    top = nest_of(func, block)
    if not writes_all(PrimFunc("nest", (), top), block, store):
        raise ScheduleError(
            f"cannot cache what block {name!r} writes: it is not shown to write all of "
            f"{old.name!r} in loops of its own",
            hint="write_at caches the part that is written in a loop.",
            at=block,
        )
    span = Span("schedule", "cache_write", parent=block.span)
    new = old.replace(name=f"{old.name}_{scope}", scope=scope, strides=None)

    written = exchange_buffer(block, old, new)
    made = new_name(func, f"{name}_copy")
    copied = _copy(made, new, old, span)
    func = exchange(func, {block: written})
    top = nest_of(func, written)
    return exchange(func, {top: Allocate(new, seq(top, copied), span=span)}), made


def buffer_read(func: PrimFunc, name: str, given: Buffer | str | int) -> Buffer:
    """Find a buffer that a block reads: itself, by its name, or by its place among them.

    Raises: ScheduleError if there is none.
    """
    if isinstance(given, Buffer):
        return given
    return _among(find_block(func, name), given, Load, "reads")


def buffer_written(func: PrimFunc, name: str, given: Buffer | str | int = 0) -> Buffer:
    """Find a buffer that a block writes, in the same ways."""
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


def cache_read(
    func: PrimFunc, name: str, buffer: Buffer, scope: str, consumers: Sequence[str] = ()
) -> tuple[PrimFunc, str]:
    """Let a block, and other ``consumers``, read a copy of a buffer, made in a block of its own in
    front of the loops of the first.

    The copy is named ``NAME_BUFFER``. Shapes: the new buffer has the shape of the old.
    Raises: ScheduleError if a block does not read the buffer, or anything writes it from the copy
    on to the last of them.
    """
    blocks = [find_block(func, each) for each in dict.fromkeys((name, *consumers))]
    for block in blocks:
        if not any(load.buffer is buffer for load in walk(block, on=Load)):
            raise ScheduleError(f"block {block.name!r} does not read {buffer.name!r}", at=block)
    around, first, last = _span_of(func, [nest_of(func, block) for block in blocks])
    for stmt in around[first : last + 1]:
        if any(store.buffer is buffer for store in walk(stmt, on=Store)):
            raise ScheduleError(
                f"cannot cache what block {name!r} reads: {buffer.name!r} is written in the same "
                "loops",
                at=blocks[0],
            )
    span = Span("schedule", "cache_read", parent=blocks[0].span)
    new = buffer.replace(name=f"{buffer.name}_{scope}", scope=scope, strides=None)

    def move(load: Load) -> Load | None:
        return load.replace(buffer=new) if load.buffer is buffer else None

    made = new_name(func, f"{name}_{buffer.name}")
    copied = _copy(made, buffer, new, span)
    changes: dict[Stmt, Stmt] = {
        block: rewrite(block, move, on=Load).replace(reads=None) for block in blocks
    }
    stmts = [exchange_in(stmt, changes) for stmt in around]
    whole = Allocate(new, seq(copied, *stmts[first:]), span=span)
    old = around[0] if len(around) == 1 else _parent(func, around)
    return exchange(func, {old: seq(*stmts[:first], whole)}), made


def _span_of(func: PrimFunc, tops: Sequence[Stmt]) -> tuple[tuple[Stmt, ...], int, int]:
    """Find the sequence that some statements stand in, and the places of the first and the last.

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
    raise ScheduleError("the blocks that would share a copy stand in no sequence together")


def _parent(func: PrimFunc, stmts: tuple[Stmt, ...]) -> Seq:
    return next(parent for parent in walk(func, on=Seq) if parent.stmts is stmts)


def _copy(name: str, source: Buffer, to: Buffer, span: Span) -> Stmt:
    """Make the loops that copy a whole buffer, element by element."""
    return nest_over(name, to.shape, lambda at: Store(to, at, source[at]), span)


def nest_of(func: PrimFunc, block: Block) -> Stmt:
    """Find the outermost loop around a block that holds nothing else."""
    top: Stmt = block
    for stmt in reversed(path_to(func, block)[:-1]):
        if not isinstance(stmt, For):
            break
        top = stmt
    return top
