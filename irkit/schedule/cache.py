"""Primitives that put a buffer between computation and memory: cache_write."""

from irkit.core import ScheduleError, Span
from irkit.ir import Allocate, Axis, Block, For, PrimFunc, Stmt, Store, Var, const, seq
from irkit.schedule.state import (
    exchange,
    exchange_buffer,
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
    Raises: ScheduleError if the block is not the only writer, or its body is not one store at its
    own axes.
    """
    block = find_block(func, name)
    store = only_store(block)
    if store is None or len(writes_of(func, store.buffer)) != 1:
        raise ScheduleError(
            f"cannot cache what block {name!r} writes: it must be one store, and the only writer",
            span=block.span,
        )
    old = store.buffer
    span = Span("schedule", "cache_write", parent=block.span)
    new = old.replace(name=f"{old.name}_{scope}", scope=scope, strides=None)

    written = exchange_buffer(block, old, new)
    loops = [Var(f"c{at}", dim.dtype) for at, dim in enumerate(old.shape)]
    axes = [Var(f"v{at}", dim.dtype) for at, dim in enumerate(old.shape)]
    copied: Stmt = Block(
        f"{name}_copy",
        tuple(Axis(v, dim, i) for v, dim, i in zip(axes, old.shape, loops, strict=True)),
        Store(old, tuple(axes), new[tuple(axes)]),
        span=span,
    )
    for var, dim in zip(reversed(loops), reversed(old.shape), strict=True):
        copied = For(var, const(0, var.dtype), dim, copied, span=span)
    func = exchange(func, {block: written})
    top = _nest_of(func, written)
    return exchange(func, {top: Allocate(new, seq(top, copied), span=span)}), f"{name}_copy"


def _nest_of(func: PrimFunc, block: Block) -> Stmt:
    """Find the outermost loop around a block that holds nothing else."""
    top: Stmt = block
    for stmt in reversed(path_to(func, block)[:-1]):
        if not isinstance(stmt, For):
            break
        top = stmt
    return top
