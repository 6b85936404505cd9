"""The primitive reverse_compute_inline: fold a pointwise consumer into its producer."""

from irkit.core import Node, ScheduleError, Span, rewrite, substitute, walk
from irkit.ir import Block, Expr, If, Load, PrimFunc, Store, Var, replace_stmts
from irkit.ir.analysis import same_place
from irkit.schedule.analysis.accesses import (
    at_own_axes,
    only_store,
    producers_of,
    read_by,
    same_extent,
    writes_of,
)
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.checks.order import check_visible, controlling_vars, is_used, scope_of
from irkit.schedule.state.lookup import allocation, find_block, loops_above, path_to, unbound_at
from irkit.schedule.state.replace import remove_block, without_allocation


def reverse_compute_inline(func: PrimFunc, name: str) -> PrimFunc:
    """Fold a pointwise block into the only producer of its input.

    The block and the buffer between the two are removed.
    Raises: ScheduleError if the block does not read one intermediate buffer at its own axes, one
    for one, if that buffer is not computed completely by one block that does not reduce, or if
    anything else uses it.
    """
    consumer = find_block(func, name)
    what = f"fold {name!r} into its producer"
    store = _pointwise(func, consumer, what)
    producer, made = _producer(func, consumer, what)
    source = made.buffer
    order = _places(consumer, producer, made, what)
    _check_free_between(func, producer, consumer, store, what)
    values: dict[Node, Node] = dict(order.items())

    def fold(load: Load) -> Expr | None:
        return made.value if load.buffer is source else None

    value = rewrite(substitute(store.value, values), fold, on=Load)
    at = tuple(substitute(index, values) for index in store.indices)
    span = Span("schedule", "reverse_compute_inline", parent=consumer.span)
    body = Store(store.buffer, at, value, span=span)
    folded = producer.replace(body=body, reads=None, writes=None)
    func = replace_stmts(remove_block(func, consumer), {producer: folded})
    func = without_allocation(func, source)
    if is_used(func, {source}):
        raise ScheduleError(f"cannot {what}: {source.name!r} is used elsewhere too", at=consumer)
    check_visible(func, find_block(func, producer.name), what)
    return func


def _pointwise(func: PrimFunc, block: Block, what: str) -> Store:
    store = only_store(block)
    reason = ""
    if store is None or store.mask is not None:
        reason = "its body is not a single store"
    elif block.init is not None or any(axis.kind != "spatial" for axis in block.axes):
        reason = "it reduces"
    elif not at_own_axes(store, block.axes):
        reason = "it does not write at its own axes, each once"
    elif len(writes_of(func, store.buffer)) != 1:
        reason = f"other blocks also write {store.buffer.name!r}"
    elif not points_of(func, block).covers_all_points():
        reason = "it cannot be proved to run at all points of its axes"
    if reason or store is None:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    return store


def _producer(func: PrimFunc, consumer: Block, what: str) -> tuple[Block, Store]:
    found = producers_of(func, consumer)
    if len(found) != 1:
        names = ", ".join(repr(each.name) for each in found) or "nothing"
        raise ScheduleError(
            f"cannot {what}: it must have exactly one producer, but reads from {names}", at=consumer
        )
    producer = found[0]
    store = only_store(producer)
    reason = ""
    if store is None or store.mask is not None:
        reason = "has a body that is not a single store"
    elif producer.init is not None or any(axis.kind != "spatial" for axis in producer.axes):
        reason = "reduces, so its elements are not final when stored"
    elif allocation(func, store.buffer) is None:
        reason = f"writes {store.buffer.name!r}, a parameter"
    elif any(load.buffer is store.buffer for load in walk(store.value, on=Load)):
        reason = "reads what it writes"
    elif scope_of(func, producer) is not scope_of(func, consumer):
        reason = "is inside another block"
    elif not points_of(func, producer).covers_all_points():
        reason = "cannot be proved to run for all points of its axes"
    if reason or store is None:
        raise ScheduleError(f"cannot {what}: its producer {producer.name!r} {reason}", at=producer)
    return producer, store


def _places(consumer: Block, producer: Block, made: Store, what: str) -> dict[Var, Expr]:
    """Map each axis of the consumer to an axis of the producer."""
    loads = [load for load in walk(consumer.body, on=Load) if load.buffer is made.buffer]
    own = {axis.var: axis for axis in consumer.axes}
    theirs = {axis.var: axis for axis in producer.axes}
    found: dict[Var, Expr] = {}
    fits = at_own_axes(made, producer.axes) and len(own) == len(theirs)
    for read, at in zip(loads[0].indices, made.indices, strict=True):
        mine = own.get(read) if isinstance(read, Var) else None
        other = theirs.get(at) if isinstance(at, Var) else None
        if mine is None or other is None or not same_extent(mine.extent, other.extent):
            fits = False
            break
        found[mine.var] = other.var
    if (
        not fits
        or len(found) != len(own)
        or any(not same_place(load, loads[0]) or load.mask is not None for load in loads)
    ):
        raise ScheduleError(
            f"cannot {what}: it does not read {made.buffer.name!r} at its own axes, one for one",
            at=consumer,
        )
    return found


def _check_free_between(
    func: PrimFunc, producer: Block, consumer: Block, store: Store, what: str
) -> None:
    """Check that the store can run as early as the producer."""
    around = {id(stmt) for stmt in path_to(func, producer)}
    if any(id(stmt) not in around for stmt in path_to(func, consumer) if isinstance(stmt, If)):
        raise ScheduleError(f"cannot {what}: it is inside an `if`", at=consumer)
    name = unbound_at(func, store, consumer, producer)
    if name:
        raise ScheduleError(
            f"cannot {what}: it uses {name!r}, which is not defined at block {producer.name!r}",
            at=consumer,
        )
    _check_turns(func, producer, consumer, what)
    blocks = list(walk(func, on=Block))
    if blocks.index(producer) > blocks.index(consumer):
        raise ScheduleError(f"cannot {what}: its producer comes after it", at=consumer)
    if store.buffer in read_by(producer) | read_by(consumer):
        raise ScheduleError(
            f"cannot {what}: {store.buffer.name!r} is read there before it is written",
            at=consumer,
        )
    for block in walk(func, on=Block):
        if block is consumer:
            return
        if store.buffer in read_by(block):
            raise ScheduleError(
                f"cannot {what}: block {block.name!r} reads {store.buffer.name!r} before it",
                at=consumer,
            )


def _check_turns(func: PrimFunc, producer: Block, consumer: Block, what: str) -> None:
    """Check that no loop around both runs one of them in parts and repeats all of the other."""
    parts = controlling_vars(func, producer) ^ controlling_vars(func, consumer)
    shared = set(loops_above(func, producer)) & set(loops_above(func, consumer))
    loop = next((each for each in shared if each.var in parts), None)
    if loop is not None:
        raise ScheduleError(
            f"cannot {what}: each iteration of {loop.var.name!r} runs all of one block and only "
            "a part of the other",
            at=consumer,
        )
