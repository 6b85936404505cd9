"""Check that a primitive makes no iterations meet of a loop that has no order.

Iterations of a parallel or vectorized loop, or of a loop over blocks, meet if one writes an element
that another accesses. A function may be given with such loops of which that cannot be excluded. It
is taken to be right: there, all iterations that write an element write the same value. A primitive
must then not change what they write.
"""

from collections.abc import Sequence
from enum import IntEnum

from irkit.core import ScheduleError, equal, substitute, symbols_bound, walk
from irkit.ir import Block, Buffer, Expr, For, Load, PrimFunc, Stmt, Store, Var, statements, uses_of
from irkit.ir.threads import is_block_loop, met_memory
from irkit.schedule.analysis.accesses import at_own_axes, variables
from irkit.schedule.state.lookup import path_to

ONLY_MARKS = frozenset(
    {"annotate", "pragma", "set_scope", "storage_align", "unannotate", "unroll", "unsafe_set_dtype"}
)
"""Primitives after which the same iterations access the same elements."""


class OverlapKind(IntEnum):
    """How iterations of a loop may meet in a buffer, the least known last."""

    HARMLESS = 0
    ONE_VALUE = 1
    """What is written in an element depends on its indices only; but iterations also read."""
    UNKNOWN = 2


def check_meetings(before: PrimFunc, after: PrimFunc, primitive: str) -> None:
    """Check that iterations of loops without an order meet in no buffer in which they did not
    before, and that what they write in one element remains one value.

    Raises: ScheduleError at the loop.
    """
    if primitive in ONLY_MARKS:
        return
    bodies = {loop.var: loop.body for loop in statements(before).loops}
    # What the body of a loop does was asked before, or when the loop was marked.
    changed = [loop for loop in _unordered(after) if bodies.get(loop.var) is not loop.body]
    found = _overlaps(after, changed)
    if not found:
        return
    known: dict[str, OverlapKind] = {}
    for _, buffer, kind in _overlaps(before, _unordered(before)):
        known[buffer.name] = max(kind, known.get(buffer.name, kind))
    for loop, buffer, kind in found:
        if kind > known.get(buffer.name, OverlapKind.HARMLESS):
            raise ScheduleError(f"cannot {primitive}: {_reason(loop, buffer)}", at=loop)


def check_writes_apart(func: PrimFunc, stmt: Stmt, buffer: Buffer, what: str) -> None:
    """Check that iterations of no loop without an order around a statement may meet in a buffer,
    unless all write the same value in an element.

    Raises: ScheduleError at the loop.
    """
    memory = uses_of(func).memory(buffer)
    around = path_to(func, stmt)[:-1]
    loops = [loop for loop in _unordered(func) if loop in around]
    for loop, met, kind in _overlaps(func, loops):
        if met is memory and kind is OverlapKind.UNKNOWN:
            raise ScheduleError(f"cannot {what}: {_reason(loop, met)}", at=loop)


def _reason(loop: For, buffer: Buffer) -> str:
    kind = "loop over blocks" if loop.kind == "thread" else f"{loop.kind} loop"
    return (
        f"one iteration of the {kind} {loop.var.name!r} may then write an element of "
        f"{buffer.name!r} that another one accesses"
    )


def _unordered(func: PrimFunc) -> list[For]:
    return [
        loop
        for loop in statements(func).loops
        if loop.kind in ("parallel", "vectorized") or is_block_loop(loop)
    ]


def _overlaps(func: PrimFunc, loops: Sequence[For]) -> list[tuple[For, Buffer, OverlapKind]]:
    return [
        (loop, buffer, _overlap(func, loop, buffer))
        for loop in loops
        for buffer in met_memory(func, loop)
    ]


def _overlap(func: PrimFunc, loop: For, buffer: Buffer) -> OverlapKind:
    memory = uses_of(func).memory
    stores = [store for store in walk(loop.body, on=Store) if memory(store.buffer) is buffer]
    if not _store_one_value(func, loop, stores):
        return OverlapKind.UNKNOWN
    reads = any(memory(load.buffer) is buffer for load in walk(loop.body, on=Load))
    return OverlapKind.ONE_VALUE if reads else OverlapKind.HARMLESS


def _store_one_value(func: PrimFunc, loop: For, stores: list[Store]) -> bool:
    """Return True if some stores store a value that depends on nothing but the indices of the
    element, the same one for all."""
    values = [_value_by_place(func, loop, store, stores[0]) for store in stores]
    first = values[0]
    return first is not None and all(
        value is not None and equal(value, first) for value in values[1:]
    )


def _value_by_place(func: PrimFunc, loop: For, store: Store, like: Store) -> Expr | None:
    """Return the value of a store with the indices of another one in place of its own; None if it
    depends on anything else that differs between iterations."""
    blocks = [stmt for stmt in path_to(func, store) if isinstance(stmt, Block)]
    if not blocks or store.mask is not None or store.buffer is not like.buffer:
        return None
    if not at_own_axes(store, blocks[-1].axes):
        return None
    memory = uses_of(func).memory
    written = {memory(each.buffer) for each in walk(loop.body, on=Store)}
    own = {at for at in store.indices if isinstance(at, Var)}
    others = {*symbols_bound(loop.body), loop.var} - own
    loads = walk(store.value, on=Load)
    if variables(store.value) & others or any(memory(load.buffer) in written for load in loads):
        return None
    return substitute(store.value, dict(zip(store.indices, like.indices, strict=True)))
