"""The primitive compute_inline: replace the reads of a block's buffer by the computation."""

from irkit.core import ScheduleError, rewrite, substitute, walk
from irkit.ir import Block, Expr, Load, PrimFunc, Store, Var, dependences, uses_of
from irkit.ir.analysis import ValueNumbering
from irkit.schedule.analysis.accesses import reads_of, written_after
from irkit.schedule.checks.pointwise import pointwise_store
from irkit.schedule.state.lookup import allocation, find_block, loops_above, unbound_at
from irkit.schedule.state.replace import remove_block, without_allocation

_MOST_PLACES = 4096
"""Copies of a computation that inlining may make: each stage of ``x[i] + x[n - i]`` doubles
them."""


def compute_inline(func: PrimFunc, name: str) -> PrimFunc:
    """Replace every read of a block's buffer by the computation, and remove the block and its
    buffer.

    Raises: ScheduleError if the block reduces, has a predicate, writes a parameter, or does not
    write every element of its buffer once, at its own axes, or if its buffer is read at more than
    4,096 different places.
    """
    block = find_block(func, name)
    store = pointwise_store(func, block, "inline")
    buffer = store.buffer
    if allocation(func, buffer) is None:
        raise ScheduleError(
            f"cannot inline {name!r}: {buffer.name!r} is a parameter and must be written",
            at=block,
        )
    changed = written_after(func, block, {load.buffer for load in walk(store.value, on=Load)})
    if changed is not None:
        raise ScheduleError(
            f"cannot inline {name!r}: its input {changed.name!r} is written again later",
            at=block,
        )
    _check_same_at_readers(func, block, store)
    func = remove_block(func, block)
    axes = [index for index in store.indices if isinstance(index, Var)]

    numbering, values = ValueNumbering(), dict[tuple[int, ...], Expr]()

    def inline(load: Load) -> Expr | None:
        if load.buffer is not buffer:
            return None
        # Reads of one element share one expression: a copy for each would double at every stage.
        place = tuple([numbering.of(index) for index in load.indices])
        if place not in values:
            if len(values) >= _MOST_PLACES:
                raise ScheduleError(
                    f"cannot inline {name!r}: {buffer.name!r} is read at more than "
                    f"{_MOST_PLACES} different places, each of which would compute it",
                    hint="Keep the stage, or one that it reads, in memory.",
                    at=block,
                )
            values[place] = substitute(store.value, dict(zip(axes, load.indices, strict=True)))
        return values[place]

    return without_allocation(rewrite(func, inline, on=Load), buffer)


def _check_same_at_readers(func: PrimFunc, block: Block, store: Store) -> None:
    """Check that the computation gives the same value at all readers."""
    readers = reads_of(func, store.buffer)
    loads = [load for reader in readers for load in walk(reader, on=Load)]
    if sum(load.buffer is store.buffer for load in loads) != sum(
        load.buffer is store.buffer for load in walk(func, on=Load)
    ):
        raise ScheduleError(
            f"cannot inline {block.name!r}: {store.buffer.name!r} is read outside blocks",
            at=block,
        )
    for reader in readers:
        name = unbound_at(func, store.value, block, reader)
        if name:
            raise ScheduleError(
                f"cannot inline {block.name!r}: it uses {name!r}, which is not defined at block "
                f"{reader.name!r}",
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
                f"cannot inline {block.name!r}: its inputs are overwritten in the loop "
                f"{loop.var.name!r}: {reason}",
                at=block,
            )
