"""Moving computation: the primitive compute_inline, and what reverse_compute_at tries first."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, rewrite, substitute, walk
from irkit.ir import (
    Block,
    Buffer,
    Expr,
    For,
    If,
    IfThenElse,
    Load,
    Max,
    Min,
    PrimFunc,
    Select,
    Store,
    Var,
    dependences,
    seq,
    shape_vars,
    uses_of,
)
from irkit.schedule.domain import points_of
from irkit.schedule.state import (
    allocation,
    at_own_axes,
    blocks_below,
    exchange,
    find_block,
    find_loop,
    guards_by_loops,
    joined,
    loops_above,
    loops_to,
    nest_again,
    only_store,
    read_by,
    reads_of,
    reduced_over,
    remove,
    same_extent,
    unbound_at,
    variables,
    without_allocation,
    writes_of,
    written_after,
    written_by,
)


class NotOneForOne(ScheduleError):
    """A consumer that does not read its producer element by element, so that its axes have to be
    solved for."""


def compute_inline(func: PrimFunc, name: str) -> PrimFunc:
    """Compute the elements of a block where they are read, and drop the block and its buffer.

    Raises: ScheduleError if the block reduces, has a predicate, writes a parameter, or does not
    write every element of its
    buffer once, at its own axes.
    """
    block = find_block(func, name)
    store = _pointwise(func, block, "inline")
    buffer = store.buffer
    if allocation(func, buffer) is None:
        raise ScheduleError(
            f"cannot inline {name!r}: {buffer.name!r} is a parameter, so it must be written",
            at=block,
        )
    changed = written_after(func, block, {load.buffer for load in walk(store.value, on=Load)})
    if changed is not None:
        raise ScheduleError(
            f"cannot inline {name!r}: it reads {changed.name!r}, which is written again later",
            at=block,
        )
    _check_same_at_readers(func, block, store)
    func = remove(func, block)
    axes = [index for index in store.indices if isinstance(index, Var)]

    def inline(load: Load) -> Expr | None:
        if load.buffer is not buffer:
            return None
        return substitute(store.value, dict(zip(axes, load.indices, strict=True)))

    return without_allocation(rewrite(func, inline, on=Load), buffer)


def _check_same_at_readers(func: PrimFunc, block: Block, store: Store) -> None:
    """Refuse to compute a value where its readers are if that may be another one there."""
    readers = reads_of(func, store.buffer)
    loads = [load for reader in readers for load in walk(reader, on=Load)]
    if sum(load.buffer is store.buffer for load in loads) != sum(
        load.buffer is store.buffer for load in walk(func, on=Load)
    ):
        raise ScheduleError(
            f"cannot inline {block.name!r}: {store.buffer.name!r} is read outside of blocks",
            at=block,
        )
    for reader in readers:
        name = unbound_at(func, store.value, block, reader)
        if name:
            raise ScheduleError(
                f"cannot inline {block.name!r}: {name!r}, which it uses, is not there where block "
                f"{reader.name!r} stands",
                at=block,
            )
    memory = uses_of(func).memory
    read = {memory(load.buffer) for load in walk(store.value, on=Load)}
    for loop in loops_above(func, block):
        if not any(memory(each.buffer) in read for each in walk(loop, on=Store)):
            continue
        reason = dependences(func).carried(loop)
        if reason:
            raise ScheduleError(
                f"cannot inline {block.name!r}: what it reads is made anew in the loop "
                f"{loop.var.name!r}, and there {reason}",
                at=block,
            )


def move_pointwise_consumer(func: PrimFunc, name: str, var: Var) -> PrimFunc:
    """Move a consumer under a loop of its producer, where it handles what the producer has just
    finished.

    The consumer must read the producer's buffer at its own axes, one for one; its axes are then
    bound just as the producer's.
    Raises: ScheduleError if it does not, if the producer still reduces around the loop or mixes
    reduced loops with others, or if the consumer also reads what is computed later.
    """
    consumer = find_block(func, name)
    loop = find_loop(func, var)
    _pointwise(func, consumer, "move")
    producer, made = _producer_below(func, consumer, loop)
    path = loops_to(func, producer)
    inner = path[path.index(loop) + 1 :]
    reducing = reduced_over(producer)
    late = next((each.var for each in loops_to(func, loop) if each.var in reducing), None)
    if late is not None:
        raise ScheduleError(
            f"cannot move {name!r} under {var.name!r}: block {producer.name!r} still reduces over "
            f"{late.name!r} there",
            at=consumer,
        )
    check_unmixed(func, producer, reducing, f"move {name!r}", inner)
    _check_order(func, consumer, producer, loop)
    _check_finished(func, consumer, producer, made)
    bindings = _matching(consumer, producer, made)
    _check_whole(func, consumer, producer, made)
    kept = [stmt for stmt in inner if stmt.var not in reducing]
    names = {stmt.var: stmt.var.copy() for stmt in kept}
    axes = tuple(
        axis.replace(binding=substitute(bindings[axis.var], names)) for axis in consumer.axes
    )
    # What is said of reduced loops is no matter of an element that is finished.
    guards = [part for part in guards_by_loops(producer) if not variables(part) & reducing]
    predicate = joined([substitute(part, names) for part in guards])
    span = Span("schedule", "reverse_compute_at", parent=consumer.span)
    moved = nest_again(kept, names, consumer.replace(axes=axes, predicate=predicate), span)
    func = remove(func, consumer)
    loop = find_loop(func, var)
    return exchange(func, {loop: loop.replace(body=seq(loop.body, moved))})


def check_unmixed(
    func: PrimFunc, block: Block, reducing: set[Var], what: str, inner: Sequence[For]
) -> None:
    """Refuse where a spatial axis, a part of the predicate, or the bounds of a loop that is not
    reduced over also depend on a reduced loop: then there is no telling the elements apart from the
    steps of their reduction."""
    spatial = [axis.binding for axis in block.axes if axis.kind == "spatial"]
    spatial += [end for loop in inner if loop.var not in reducing for end in (loop.begin, loop.end)]
    sizes = {*shape_vars(func), *(param for param in func.params if isinstance(param, Var))}
    parts = [part for part in guards_by_loops(block) if variables(part) - reducing - sizes]
    for expr in (*spatial, *parts):
        shared = variables(expr) & reducing
        if shared:
            raise ScheduleError(
                f"cannot {what}: loop {next(iter(shared)).name!r} of block {block.name!r} is both "
                "reduced over and not",
                at=block,
            )


def _check_order(func: PrimFunc, consumer: Block, producer: Block, loop: For) -> None:
    """Refuse to move a block before something that it needs, or that needs what it overwrites."""
    blocks = list(walk(func, on=Block))
    passed = blocks[blocks.index(producer) + 1 : blocks.index(consumer)]
    inside = blocks_below(loop)
    reads, writes = read_by(consumer), written_by(consumer)
    for block in passed:
        needed, spoiled = written_by(block) & reads, read_by(block) & writes
        both = needed | spoiled
        if both and block not in inside:
            what = "computes" if needed else "still reads"
            raise ScheduleError(
                f"cannot move {consumer.name!r} under {loop.var.name!r}: block {block.name!r} in "
                f"between {what} {next(iter(both)).name!r}",
                at=consumer,
            )


def _check_finished(func: PrimFunc, consumer: Block, producer: Block, made: Buffer) -> None:
    """Refuse where the producer alone does not finish the elements that the consumer handles, as
    when its loop was cut in pieces, or where it may finish some of them twice."""
    reduces = any(axis.kind != "spatial" for axis in producer.axes)
    for other in writes_of(func, made):
        starts = other.init is None and all(axis.kind == "spatial" for axis in other.axes)
        reads = any(load.buffer is made for load in walk(other, on=Load))
        if other not in (producer, consumer) and not (reduces and starts and not reads):
            raise ScheduleError(
                f"cannot move {consumer.name!r} to block {producer.name!r}: block {other.name!r} "
                f"also computes elements of {made.name!r}",
                at=other,
            )
    again = any(True for axis in producer.axes for _ in walk(axis.binding, on=(Min, Max)))
    if again and written_by(consumer) & read_by(consumer):
        raise ScheduleError(
            f"cannot move {consumer.name!r} to block {producer.name!r}, which computes some "
            "elements twice: it would change them twice",
            at=consumer,
        )


def _check_whole(func: PrimFunc, consumer: Block, producer: Block, made: Buffer) -> None:
    """Refuse a consumer or a producer that may run at some points of its axes only: one may not
    stand for the other then.

    What is allocated and read at every point was made there, or the program has no meaning.
    """
    asks = any(True for _ in walk(consumer.body, on=(If, IfThenElse, Select)))
    known = allocation(func, made) is not None and not asks
    for block in (consumer,) if known else (consumer, producer):
        if not points_of(func, block).all_points():
            raise NotOneForOne(
                f"cannot move {consumer.name!r} to {producer.name!r}: it is not shown that "
                f"{block.name!r} runs at every point of its axes",
                at=block,
            )


def _pointwise(func: PrimFunc, block: Block, verb: str) -> Store:
    """Return the store of a block that writes each element once, at distinct axes of its own."""
    store = only_store(block)
    reason = ""
    if store is None:
        reason = "its body is more than one store"
    elif block.init is not None or any(axis.kind != "spatial" for axis in block.axes):
        reason = "it reduces"
    elif block.predicate is not None:
        reason = "it has a predicate"
    elif len(writes_of(func, store.buffer)) != 1:
        reason = f"{store.buffer.name!r} is written by other blocks too"
    elif not at_own_axes(store, block.axes):
        reason = "it does not write at its own axes, each once"
    if reason or store is None:
        kind = NotOneForOne if verb == "move" else ScheduleError
        raise kind(f"cannot {verb} block {block.name!r}: {reason}", at=block)
    return store


def _producer_below(func: PrimFunc, consumer: Block, loop: For) -> tuple[Block, Buffer]:
    for block in reversed(blocks_below(loop)):  # The last writer: an initialisation comes before.
        store = only_store(block)
        if store is not None and any(consumer is reader for reader in reads_of(func, store.buffer)):
            return block, store.buffer
    raise ScheduleError(
        f"cannot move block {consumer.name!r} under {loop.var.name!r}: no block there computes "
        "what it reads",
        at=consumer,
    )


def _matching(consumer: Block, producer: Block, buffer: Buffer) -> dict[Var, Expr]:
    """Bind each axis of the consumer as the producer binds the axis that writes what it reads."""
    store = only_store(producer)
    assert store is not None
    written = {axis.var: axis for axis in producer.axes}
    own = {axis.var: axis for axis in consumer.axes}
    found: dict[Var, Expr] = {}
    for load in (node for node in walk(consumer.body, on=Load) if node.buffer is buffer):
        for at, read in zip(store.indices, load.indices, strict=True):
            mine = own.get(read) if isinstance(read, Var) else None
            theirs = written.get(at) if isinstance(at, Var) else None
            if mine is None or theirs is None or not same_extent(mine.extent, theirs.extent):
                raise NotOneForOne(
                    f"cannot move block {consumer.name!r}: it does not read {buffer.name!r} "
                    "at its own axes, one for one",
                    at=consumer,
                )
            if found.setdefault(mine.var, theirs.binding) is not theirs.binding:
                raise NotOneForOne(
                    f"cannot move block {consumer.name!r}: it reads {buffer.name!r} at two places",
                    at=consumer,
                )
    missing = [axis.var.name for axis in consumer.axes if axis.var not in found]
    if missing:
        raise NotOneForOne(
            f"cannot move block {consumer.name!r}: its axis {missing[0]!r} does not index "
            f"{buffer.name!r}",
            at=consumer,
        )
    return found
