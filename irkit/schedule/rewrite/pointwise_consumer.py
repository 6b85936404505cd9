"""Move a pointwise consumer under a loop of its producer, with the loops of the producer."""

from irkit.core import ScheduleError, Span, any_node, substitute, walk
from irkit.ir import (
    Axis,
    Block,
    Buffer,
    Conditional,
    Expr,
    For,
    If,
    Load,
    Max,
    Min,
    PrimFunc,
    Select,
    Var,
    as_int,
    lt,
    replace_stmts,
    seq,
)
from irkit.schedule.analysis.accesses import (
    only_store,
    read_by,
    reads_of,
    same_extent,
    variables,
    writes_of,
    written_by,
)
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.analysis.guards import guards_by_loops, joined, reduced_over
from irkit.schedule.checks.pointwise import NotOneForOne, pointwise_store
from irkit.schedule.checks.reduced_loops import check_unmixed
from irkit.schedule.rewrite.nests import nest_like
from irkit.schedule.state.lookup import allocation, blocks_below, find_block, find_loop, loops_to
from irkit.schedule.state.replace import remove_block


def move_pointwise_consumer(func: PrimFunc, name: str, var: Var) -> PrimFunc:
    """Move a consumer under a loop of its producer, where it processes what the producer just
    computed.

    The consumer must read the producer's buffer at its own axes, one for one; it gets the bindings
    of the producer's axes.
    Raises: ScheduleError if it does not, if the producer is still reducing around the loop or mixes
    reduction loops with others, or if the consumer also reads what is computed later.
    """
    consumer = find_block(func, name)
    loop = find_loop(func, var)
    pointwise_store(func, consumer, "move")
    producer, made = _producer_below(func, consumer, loop)
    path = loops_to(func, producer)
    inner = path[path.index(loop) + 1 :]
    reducing = reduced_over(producer)
    late = next((each.var for each in loops_to(func, loop) if each.var in reducing), None)
    if late is not None:
        raise ScheduleError(
            f"cannot move {name!r} under {var.name!r}: block {producer.name!r} is still reducing "
            f"over {late.name!r} there",
            at=consumer,
        )
    check_unmixed(func, producer, reducing, f"move {name!r}", inner)
    _check_order(func, consumer, producer, loop)
    _check_finished(func, consumer, producer, made)
    bindings, within = _matching(consumer, producer, made)
    _check_whole(func, consumer, producer, made)
    kept = [stmt for stmt in inner if stmt.var not in reducing]
    names = {stmt.var: stmt.var.copy() for stmt in kept}
    axes = tuple(
        axis.replace(binding=substitute(bindings[axis.var], names)) for axis in consumer.axes
    )
    # Conditions on reduction loops do not concern finished elements.
    guards = [part for part in guards_by_loops(producer) if not variables(part) & reducing]
    guards += within
    predicate = joined([substitute(part, names) for part in guards])
    span = Span("schedule", "reverse_compute_at", parent=consumer.span)
    moved = nest_like(kept, names, consumer.replace(axes=axes, predicate=predicate), span)
    func = remove_block(func, consumer)
    loop = find_loop(func, var)
    return replace_stmts(func, {loop: loop.replace(body=seq(loop.body, moved))})


def _check_order(func: PrimFunc, consumer: Block, producer: Block, loop: For) -> None:
    """Check that a block does not move before something that it needs, or that needs what it
    overwrites."""
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
    """Check that the producer alone finishes the elements that the consumer processes, each once.

    Several blocks do, for example, if its loop was cut.
    """
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
    again = any(any_node(axis.binding, (Min, Max)) for axis in producer.axes)
    if again and written_by(consumer) & read_by(consumer):
        raise ScheduleError(
            f"cannot move {consumer.name!r} to block {producer.name!r}, which computes some "
            "elements twice: the consumer would change them twice",
            at=consumer,
        )


def _check_whole(func: PrimFunc, consumer: Block, producer: Block, made: Buffer) -> None:
    """Check that both blocks run at all points of their axes: otherwise their domains may differ.

    An intermediate buffer that is read at every point was written there, or the program is
    undefined.
    """
    asks = any_node(consumer.body, (If, Conditional, Select))
    known = allocation(func, made) is not None and not asks
    for block in (consumer,) if known else (consumer, producer):
        if not points_of(func, block).covers_all_points():
            raise NotOneForOne(
                f"cannot move {consumer.name!r} to {producer.name!r}: {block.name!r} "
                "cannot be proved to run at all points of its axes",
                at=block,
            )


def _producer_below(func: PrimFunc, consumer: Block, loop: For) -> tuple[Block, Buffer]:
    for block in reversed(blocks_below(loop)):  # The last writer: an initialisation comes earlier.
        store = only_store(block)
        if store is not None and any(consumer is reader for reader in reads_of(func, store.buffer)):
            return block, store.buffer
    raise ScheduleError(
        f"cannot move block {consumer.name!r} under {loop.var.name!r}: no block there computes "
        "its inputs",
        at=consumer,
    )


def _matching(
    consumer: Block, producer: Block, buffer: Buffer
) -> tuple[dict[Var, Expr], list[Expr]]:
    """Map each axis of the consumer to the binding of the producer's axis at the same index.

    The producer may compute more elements than are read, as it does after padding: the conditions
    under which the consumer has a point are returned too.
    """
    store = only_store(producer)
    assert store is not None
    written = {axis.var: axis for axis in producer.axes}
    own = {axis.var: axis for axis in consumer.axes}
    found: dict[Var, Expr] = {}
    within: dict[Var, Expr] = {}
    for load in (node for node in walk(consumer.body, on=Load) if node.buffer is buffer):
        for at, read in zip(store.indices, load.indices, strict=True):
            mine = own.get(read) if isinstance(read, Var) else None
            theirs = written.get(at) if isinstance(at, Var) else None
            if mine is None or theirs is None or not _is_within(mine, theirs):
                raise NotOneForOne(
                    f"cannot move block {consumer.name!r}: it does not read {buffer.name!r} "
                    "at its own axes, one for one",
                    at=consumer,
                )
            if found.setdefault(mine.var, theirs.binding) is not theirs.binding:
                raise NotOneForOne(
                    f"cannot move block {consumer.name!r}: it reads {buffer.name!r} at two "
                    "different indices",
                    at=consumer,
                )
            if not same_extent(mine.extent, theirs.extent):
                within[mine.var] = lt(theirs.binding, mine.extent)
    missing = [axis.var.name for axis in consumer.axes if axis.var not in found]
    if missing:
        raise NotOneForOne(
            f"cannot move block {consumer.name!r}: its axis {missing[0]!r} does not index "
            f"{buffer.name!r}",
            at=consumer,
        )
    return found, list(within.values())


def _is_within(mine: Axis, theirs: Axis) -> bool:
    ours, whole = as_int(mine.extent), as_int(theirs.extent)
    shorter = ours is not None and whole is not None and ours < whole
    return shorter or same_extent(mine.extent, theirs.extent)
