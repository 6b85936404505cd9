"""The primitive that moves a producer to its consumers: compute_at."""

import functools
from collections.abc import Sequence

from irkit.core import ScheduleError, Span, substitute, walk
from irkit.ir import (
    Allocate,
    Axis,
    Block,
    Buffer,
    Expr,
    For,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    const,
    convert,
    ge,
    lt,
    prove,
    seq,
    simplify,
)
from irkit.schedule.consumed import Reach, box_of, touches
from irkit.schedule.domain import Points, facts_of, ranges_at
from irkit.schedule.grid import is_injective
from irkit.schedule.order import (
    check_inputs_stay,
    check_readers_stay,
    check_visible,
    is_used,
    is_used_outside,
    scope_of,
)
from irkit.schedule.solve import solved
from irkit.schedule.state import (
    allocation,
    exchange,
    find_block,
    find_loop,
    inside_names,
    joined,
    loops_to,
    nest,
    path_to,
    remove,
    same_place,
    variables,
    without_allocation,
    writes_of,
    written_by,
)


def compute_at(func: PrimFunc, name: str, var: Var) -> PrimFunc:
    """Move a producer under a loop of its consumers, over loops that cover what is consumed there.

    The new loops are one for each spatial axis, then one for each reduce axis, in the order of the
    axes. Where what is consumed by different iterations overlaps it is computed again. What the
    block writes is allocated inside of the loop, so that iterations share nothing.
    Raises: ScheduleError if a consumer is elsewhere, the block writes a parameter, is not the only
    writer, or what it reads is written in between.
    """
    block, loop = find_block(func, name), find_loop(func, var)
    what = f"move {name!r} under {var.name!r}"
    written = check_producer(func, block, what)
    _check_place(func, block, loop, written, what)
    around = loops_to(func, loop)
    leaving = [stmt for stmt in loops_to(func, block) if stmt not in around]
    points = Points(block, tuple(leaving), ranges_at(func))
    guards = check_complete(points, what)
    rest = functools.reduce(without_allocation, written, remove(func, block))
    loop = find_loop(rest, var)
    spans = _consumed(rest, loop, block, written, what)
    span = Span("schedule", "compute_at", parent=block.span)
    moved = regenerated(rest, block, spans, guards, loops_to(rest, loop), span)
    body = _before_first_use(loop.body, written, moved)
    for buffer in written:
        body = Allocate(buffer, body, span=span)
    made = exchange(rest, {loop: loop.replace(body=body)})
    check_visible(made, find_block(made, name), what)
    check_inputs_stay(func, made, name, what)
    check_readers_stay(func, made, name, what)
    return made


def check_producer(func: PrimFunc, block: Block, what: str) -> list[Buffer]:
    """Return what a block writes: buffers of the function's own that only it writes, each element
    from scratch.

    Raises: ScheduleError if that is not so.
    """
    written = check_only_writer(func, block, what)
    output = next((each for each in written if allocation(func, each) is None), None)
    if output is not None:
        raise ScheduleError(
            f"cannot {what}: it is an output block, for it writes the parameter {output.name!r}",
            at=block,
        )
    return written


def check_only_writer(func: PrimFunc, block: Block, what: str) -> list[Buffer]:
    """Return what a block writes, from scratch and alone.

    Raises: ScheduleError if that is not so.
    """
    written = sorted(written_by(block), key=lambda buffer: buffer.name)
    related = {id(stmt) for stmt in path_to(func, block)}
    related |= {id(each) for each in walk(block, on=Block)}
    for buffer in written:
        other = next((b for b in writes_of(func, buffer) if id(b) not in related), None)
        if other is not None:
            raise ScheduleError(
                f"cannot {what}: {buffer.name!r} is written by {other.name!r} too", at=block
            )
    check_from_scratch(block, what)
    return written


def check_from_scratch(block: Block, what: str) -> None:
    """Refuse a block that goes on from what its buffers held before.

    Raises: ScheduleError if it reads them other than where it stores, or has no init and does.
    """
    reason = ""
    stores = list(walk(block, on=Store))
    written = written_by(block)
    if any(axis.kind == "opaque" for axis in block.axes):
        reason = "it has an opaque axis"
    elif not stores or any(isinstance(stmt, View) for stmt in walk(block, on=Stmt)):
        reason = "what it writes is not told by its stores"
    loads = [load for load in walk(block, on=Load) if load.buffer in written]
    if not all(any(same_place(load, store) for store in stores) for load in loads):
        reason = "it reads other elements of what it writes"
    elif loads and block.init is None:
        reason = f"it goes on from what {loads[0].buffer.name!r} held before, as it has no init"
    reducing = {axis.var for axis in block.axes if axis.kind == "reduce"}
    spatial = [axis for axis in block.axes if axis.kind == "spatial"]
    for store in stores:
        if {var for at in store.indices for var in variables(at)} & reducing:
            reason = "where it stores depends on a reduce axis"
        elif not is_injective(store.indices, spatial):
            reason = "it is not shown that each point of its axes has an element of its own"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)


def _check_place(
    func: PrimFunc, block: Block, loop: For, written: Sequence[Buffer], what: str
) -> None:
    reason = ""
    path = path_to(func, loop)
    if block in path:
        reason = "the loop is inside of the block"
    elif scope_of(func, block) is not scope_of(func, loop):
        reason = "they are inside of different blocks"
    elif any(stmt.kind == "vectorized" for stmt in path if isinstance(stmt, For)):
        reason = "a loop there is vectorized; mark it afterwards"
    elif is_used_outside(func, set(written), loop, block):
        reason = "not all of its consumers are under the loop"
    elif not is_used(exchange(func, {block: seq()}), set(written)):
        reason = "nothing there reads what it computes"
    here = path_to(func, block)
    between = [stmt for stmt in here[:-1] if stmt not in path]
    if any(not isinstance(stmt, (For, Allocate, Seq)) for stmt in between):
        reason = reason or "it stands below a condition or a name that is not around the loop"
    elif any(stmt.kind == "thread" for stmt in between if isinstance(stmt, For)):
        reason = reason or "it would leave a loop over threads"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)


def check_complete(points: Points, what: str) -> list[Expr]:
    """Return the predicate of a block over its axes.

    Raises: ScheduleError if its loops do not reduce each element over all of the reduce axes, once,
    or it uses its loops other than through its axes.
    """
    block = points.block
    leaving = {loop.var for loop in points.loops}
    used = {var for stmt in (block.init, block.body) if stmt for var in walk(stmt, on=Var)}
    if used & leaving:
        raise ScheduleError(
            f"cannot {what}: it uses loop {next(iter(used & leaving)).name!r} other than through "
            "its axes",
            at=block,
        )
    if not points.all_reduced():
        raise ScheduleError(
            f"cannot {what}: it is not shown that its loops reduce each element over all of its "
            "reduce axes, once",
            at=block,
        )
    return points.guards_by_axes(what)


def _consumed(
    func: PrimFunc, loop: For, block: Block, written: Sequence[Buffer], what: str
) -> dict[Var, Reach]:
    """Find which part of each axis one iteration of a loop needs; an axis that is not told is
    needed whole."""
    ranges = ranges_at(func)
    found: list[dict[Var, Reach]] = []
    for buffer in written:
        reads = touches(loop.body, buffer, Load)
        if reads is None:
            raise ScheduleError(
                f"cannot {what}: {buffer.name!r} is seen through a view there", at=loop
            )
        stores = [store for store in walk(block, on=Store) if store.buffer is buffer]
        if reads:
            box = box_of(reads, ranges)
            found.extend(solved(store.indices, box, block, ranges) for store in stores)
    shared = set(found[0]).intersection(*found) if found else set[Var]()
    # Where two stores tell different parts, the whole axis is computed.
    return {
        var: found[0][var]
        for var in shared
        if all(found[0][var].is_same(other[var]) for other in found[1:])
    }


def regenerated(
    func: PrimFunc,
    block: Block,
    spans: dict[Var, Reach],
    guards: Sequence[Expr],
    above: Sequence[For],
    span: Span,
) -> Stmt:
    """Put a block under new loops over parts of its axes; the others are gone over whole."""
    ordered = sorted(block.axes, key=lambda axis: axis.kind != "spatial")
    loops: list[For] = []
    bindings: dict[Var, Expr] = {}
    parts: list[tuple[Axis, Expr]] = []
    ranges = ranges_at(func)
    for at, axis in enumerate(ordered):
        dtype = axis.var.dtype
        counter = Var(f"ax{at}", dtype)
        reach = _worthwhile(spans.get(axis.var), axis, ranges, facts_of(above))
        begin = const(0, dtype) if reach is None else convert(reach.low, dtype)
        extent = axis.extent if reach is None else reach.high - reach.low + 1
        end = convert(simplify(extent, ranges), dtype)
        loops.append(For(counter, const(0, dtype), end, seq(), span=span))
        bindings[axis.var] = counter if reach is None else simplify(begin + counter, ranges)
        if reach is not None:
            parts.append((axis, bindings[axis.var]))
    inside = ranges_at(func, loops)
    facts = facts_of([*above, *loops])
    tests: list[Expr] = [substitute(guard, bindings) for guard in guards]
    for axis, at in parts:
        tests += [ge(at, 0)] * (not prove(ge(at, 0), inside, facts))
        tests += [lt(at, axis.extent)] * (not prove(lt(at, axis.extent), inside, facts))
    moved = block.replace(
        axes=tuple(axis.replace(binding=bindings[axis.var]) for axis in block.axes),
        predicate=joined(tests),
        reads=None,
        writes=None,
        span=span,
    )
    return nest(loops, moved)


def _worthwhile(
    reach: Reach | None, axis: Axis, ranges: object, facts: Sequence[Expr]
) -> Reach | None:
    """Drop an interval that is as long as the axis: the whole needs no guard."""
    if reach is None or reach.low.dtype != axis.extent.dtype:
        return None
    length = simplify(reach.high - reach.low + 1)
    number, whole = as_int(length), as_int(axis.extent)
    if number is not None and whole is not None:
        return reach if number < whole else None
    return None if length == simplify(axis.extent) else reach


def _before_first_use(body: Stmt, buffers: Sequence[Buffer], made: Stmt) -> Stmt:
    """Put a statement in front of the first in a body that uses some buffers."""
    wanted = set(buffers)

    def put(inner: Stmt) -> Stmt:
        if not isinstance(inner, Seq):
            return seq(made, inner)
        at = next((at for at, stmt in enumerate(inner.stmts) if is_used(stmt, wanted)), 0)
        return seq(*inner.stmts[:at], made, *inner.stmts[at:])

    return inside_names(body, put)
