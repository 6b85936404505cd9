"""The primitive compute_at: move a producer under a loop of its consumers."""

import functools
from collections.abc import Sequence

from irkit.core import ScheduleError, Span, walk
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
    Var,
    replace_stmts,
    seq,
)
from irkit.ir.analysis import SymbolicInterval, box_of, touches
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.analysis.solve_axes import solve_axes
from irkit.schedule.checks.order import (
    check_moved,
    is_used,
    is_used_outside,
    scope_of,
)
from irkit.schedule.checks.recomputation import check_complete, check_producer
from irkit.schedule.rewrite.regenerate import regenerate
from irkit.schedule.state.lookup import find_block, find_loop, loops_to, path_to
from irkit.schedule.state.replace import inside_bindings, remove_block, without_allocation


def compute_at(func: PrimFunc, name: str, var: Var) -> PrimFunc:
    """Move a producer under a loop of its consumers, with loops that cover what is consumed there.

    There is one new loop for each spatial axis, then one for each reduce axis, in the order of the
    axes. Elements that several iterations consume are recomputed. The buffer that the block writes
    is allocated inside the loop, so iterations share nothing.
    Raises: ScheduleError if a consumer is elsewhere, if the block writes a parameter or is not the
    only writer, or if its inputs are written in between.
    """
    block, loop = find_block(func, name), find_loop(func, var)
    what = f"move {name!r} under {var.name!r}"
    written = check_producer(func, block, what)
    _check_place(func, block, loop, written, what)
    around = loops_to(func, loop)
    leaving = [stmt for stmt in loops_to(func, block) if stmt not in around]
    points = Points(block, tuple(leaving), ranges_at(func))
    guards = check_complete(points, what)
    rest = functools.reduce(without_allocation, written, remove_block(func, block))
    loop = find_loop(rest, var)
    spans = _consumed(rest, loop, block, written, what)
    span = Span("schedule", "compute_at", parent=block.span)
    moved = regenerate(rest, block, spans, guards, loops_to(rest, loop), span)
    body = _before_first_use(loop.body, written, moved)
    for buffer in written:
        body = Allocate(buffer, body, span=span)
    made = replace_stmts(rest, {loop: loop.replace(body=body)})
    check_moved(func, made, name, what)
    return made


def _check_place(
    func: PrimFunc, block: Block, loop: For, written: Sequence[Buffer], what: str
) -> None:
    reason = ""
    path = path_to(func, loop)
    if block in path:
        reason = "the loop is inside the block"
    elif scope_of(func, block) is not scope_of(func, loop):
        reason = "the loop and the block are inside different blocks"
    elif any(stmt.kind == "vectorized" for stmt in path if isinstance(stmt, For)):
        reason = "a loop there is vectorized; vectorize afterwards"
    elif is_used_outside(func, set(written), loop, block):
        reason = "not all of its consumers are under the loop"
    elif not is_used(replace_stmts(func, {block: seq()}), set(written)):
        reason = "nothing there reads what it computes"
    here = path_to(func, block)
    between = [stmt for stmt in here[:-1] if stmt not in path]
    if any(not isinstance(stmt, (For, Allocate, Seq)) for stmt in between):
        reason = reason or "it is below an `if` or a `let` that is not around the loop"
    elif any(stmt.kind == "thread" for stmt in between if isinstance(stmt, For)):
        reason = reason or "it would leave a thread loop"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)


def _consumed(
    func: PrimFunc, loop: For, block: Block, written: Sequence[Buffer], what: str
) -> dict[Var, SymbolicInterval]:
    """Return the interval of each axis that one iteration of a loop needs; a missing axis is needed
    in full."""
    ranges = ranges_at(func)
    found: list[dict[Var, SymbolicInterval]] = []
    for buffer in written:
        reads = touches(loop.body, buffer, Load)
        if reads is None:
            raise ScheduleError(
                f"cannot {what}: {buffer.name!r} is aliased by a view there", at=loop
            )
        stores = [store for store in walk(block, on=Store) if store.buffer is buffer]
        if reads:
            box = box_of(reads, ranges)
            found.extend(solve_axes(store.indices, box, block, ranges) for store in stores)
    shared = set(found[0]).intersection(*found) if found else set[Var]()
    # If two stores need different parts, the whole axis is computed.
    return {
        var: found[0][var]
        for var in shared
        if all(found[0][var].is_same(other[var]) for other in found[1:])
    }


def _before_first_use(body: Stmt, buffers: Sequence[Buffer], made: Stmt) -> Stmt:
    """Insert a statement before the first one in a body that uses the given buffers."""
    wanted = set(buffers)

    def put(inner: Stmt) -> Stmt:
        if not isinstance(inner, Seq):
            return seq(made, inner)
        at = next((at for at, stmt in enumerate(inner.stmts) if is_used(stmt, wanted)), 0)
        return seq(*inner.stmts[:at], made, *inner.stmts[at:])

    return inside_bindings(body, put)
