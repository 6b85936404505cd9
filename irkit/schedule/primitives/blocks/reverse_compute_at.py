"""The primitive reverse_compute_at: move a consumer under a loop of its producers."""

from collections.abc import Mapping, Set

import msgspec

from irkit.core import Node, ScheduleError, Span, any_node, walk
from irkit.ir import (
    Allocate,
    Axis,
    Block,
    Buffer,
    Expr,
    FloorDiv,
    For,
    Interval,
    Load,
    PrimFunc,
    Store,
    Var,
    dependences,
    ge,
    is_const,
    le,
    linear,
    lt,
    prove,
    replace_stmts,
    seq,
    simplify,
)
from irkit.ir.analysis import Box, SymbolicInterval, box_of, touches
from irkit.schedule.analysis.accesses import only_store, read_by, variables, writes_of, written_by
from irkit.schedule.analysis.domain import Points, points_of
from irkit.schedule.analysis.guards import reduced_over
from irkit.schedule.analysis.ranges import facts_of, inside_extents, ranges_at, rounded_up
from irkit.schedule.analysis.solve_axes import inverse_interval
from irkit.schedule.checks.order import (
    check_moved,
    check_readers_stay,
    check_visible,
    scope_of,
)
from irkit.schedule.checks.pointwise import NotOneForOne
from irkit.schedule.checks.recomputation import (
    check_complete,
    check_from_scratch,
    check_only_writer,
)
from irkit.schedule.rewrite.pointwise_consumer import move_pointwise_consumer
from irkit.schedule.rewrite.regenerate import regenerate
from irkit.schedule.state.lookup import (
    allocation,
    blocks_below,
    find_block,
    find_loop,
    loops_to,
    path_to,
)
from irkit.schedule.state.replace import inside_bindings, remove_block, without_allocation

_Ranges = Mapping[Var, Interval]


def reverse_compute_at(func: PrimFunc, name: str, var: Var) -> PrimFunc:
    """Move a consumer under a loop of its producers, where it processes what they just computed.

    A consumer that reads its producer's buffer at its own axes, one for one, gets the bindings of
    the producer. For others the axes are solved for: each iteration of the loop runs the points
    that read what it computed, in one loop for each spatial axis, then one for each reduce axis. A
    buffer that is computed completely under the loop can be read in any way.
    Raises: ScheduleError if a producer comes later or is still reducing there, or if the points
    cannot be solved for.
    """
    consumer, loop = find_block(func, name), find_loop(func, var)
    made_there = set[Buffer]().union(*(written_by(block) for block in blocks_below(loop)))
    if len(made_there & read_by(consumer)) > 1:
        return _solved(func, name, var)
    try:
        made = move_pointwise_consumer(func, name, var)
    except NotOneForOne:
        return _solved(func, name, var)
    what = f"move {name!r} under {var.name!r}"
    if consumer.init is None:
        check_from_scratch(consumer, what)
    check_visible(made, find_block(made, name), what)
    check_readers_stay(func, made, name, what)
    _check_turns(func, made, name, loop, what)
    return made


def _solved(func: PrimFunc, name: str, var: Var) -> PrimFunc:
    consumer, loop = find_block(func, name), find_loop(func, var)
    what = f"move {name!r} under {var.name!r}"
    _check_place(func, consumer, loop, what)
    written = check_only_writer(func, consumer, what)
    points = points_of(func, consumer)
    guards = check_complete(points, what)
    wherever = consumer.replace(predicate=None)
    if not Points(wherever, points.loops, points.ranges).covers_all_points():
        raise ScheduleError(
            f"cannot {what}: it cannot be proved to run at all points of its axes", at=consumer
        )
    producers = _producers(func, consumer, loop, what)
    spans = _spans(func, consumer, loop, producers, what)
    above = loops_to(func, loop)
    newly = [stmt for stmt in above if stmt not in path_to(func, consumer)]
    for each in newly:
        reason = dependences(func).carried(each)
        if reason is not None:
            raise ScheduleError(f"cannot {what}: in {each.var.name!r} {reason}", at=each)
    span = Span("schedule", "reverse_compute_at", parent=consumer.span)
    moved = regenerate(func, consumer, spans, guards, above, span)
    made = remove_block(func, consumer)
    loop = find_loop(made, var)
    made = replace_stmts(
        made, {loop: loop.replace(body=inside_bindings(loop.body, lambda body: seq(body, moved)))}
    )
    made = _lifted(made, name, written)
    checked = frozenset(producer.block.name for producer in producers)
    check_moved(func, made, name, what, apart_from=checked)
    _check_turns(func, made, name, loop, what)
    return made


def _check_turns(func: PrimFunc, made: PrimFunc, name: str, loop: For, what: str) -> None:
    """Check that each iteration of the loops around both runs the same points as before: other
    blocks may rely on that.

    Raises: ScheduleError if an axis that depends on such a loop is bound to other points.
    """
    consumer, moved = find_block(func, name), find_block(made, name)
    around = path_to(func, consumer)
    both = [stmt for stmt in loops_to(func, loop) if stmt in around]
    shared = {stmt.var for stmt in both if not is_const(stmt.end, 1)}
    for axis, new in zip(consumer.axes, moved.axes, strict=True):
        used = variables(axis.binding) & shared
        if used and _turns(func, axis, shared) != _turns(made, new, shared):
            raise ScheduleError(
                f"cannot {what}: axis {axis.var.name!r} depends on a loop around both blocks, "
                "whose iterations would run other points",
                at=consumer,
            )


def _turns(func: PrimFunc, axis: Axis, shared: Set[Var]) -> object:
    """Return a key for the points of an axis in one iteration of the shared loops: their terms, and
    the factors and ranges of the other loops.

    The key of a binding that is not linear equals no other.
    """
    form = linear(simplify(axis.binding))
    if form is None or any(not isinstance(term, Var) for term, _ in form.terms):
        return object()
    given = {term: factor for term, factor in form.terms if term in shared}
    loops: dict[Node, For] = {loop.var: loop for loop in walk(func, on=For)}
    others = [(term, factor) for term, factor in form.terms if term not in shared]
    inner = [(factor, loops[term]) for term, factor in others if term in loops]
    sizes = sorted((factor, str(loop.begin), str(loop.end)) for factor, loop in inner)
    known = len(given) + len(inner) == len(form.terms)
    return (given, sizes, form.constant) if known else object()


def _check_place(func: PrimFunc, consumer: Block, loop: For, what: str) -> None:
    path = path_to(func, loop)
    blocks = list(walk(func, on=Block))
    below = blocks_below(loop)
    reason = ""
    if scope_of(func, consumer) is not scope_of(func, loop):
        reason = "they are inside different blocks"
    elif consumer in below or consumer in path:
        reason = "it already is under that loop"
    elif not below or blocks.index(below[-1]) > blocks.index(consumer):
        reason = "the loop comes after it"
    elif any(stmt.kind in ("vectorized", "thread") for stmt in path if isinstance(stmt, For)):
        reason = "a loop there is vectorized or a thread loop"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=consumer)


class _Producer(msgspec.Struct, frozen=True):
    """A producer under the loop, its buffer, and the box that one iteration of the loop
    completes."""

    block: Block
    buffer: Buffer
    box: Box


def _producers(func: PrimFunc, consumer: Block, loop: For, what: str) -> list[_Producer]:
    read = read_by(consumer)
    found = [
        _producer(func, block, buffer, loop, what)
        for block in blocks_below(loop)
        for buffer in sorted(written_by(block) & read, key=lambda each: each.name)
    ]
    if not found:
        raise ScheduleError(f"cannot {what}: no block there computes its inputs", at=consumer)
    return found


def _producer(func: PrimFunc, block: Block, buffer: Buffer, loop: For, what: str) -> _Producer:
    """Find the box of a buffer that one iteration of a loop computes.

    Raises: ScheduleError if that cannot be proved to be a complete box of finished elements.
    """
    first = f"cannot {what}: producer {block.name!r}"
    store = only_store(block)
    axes = {axis.var: axis for axis in block.axes if axis.kind == "spatial"}
    indices = store.indices if store is not None else ()
    own = [at for at in indices if isinstance(at, Var) and at in axes]
    if store is None or len(set(own)) != len(indices) or len(own) != len(axes):
        raise ScheduleError(f"{first} does not store at its own axes, one for one", at=block)
    if len(writes_of(func, buffer)) != 1:
        raise ScheduleError(f"{first} is not the only block that writes {buffer.name!r}", at=block)
    check_from_scratch(block, what)
    path = path_to(func, block)
    reducing = reduced_over(block)
    inner = [s for s in path[path.index(loop) + 1 :] if isinstance(s, For)]
    if any(isinstance(s, For) and s not in inner and s.var in reducing for s in path):
        raise ScheduleError(f"{first} is still reducing there", at=block)
    whole = points_of(func, block)
    ranges = ranges_at(func)
    touched = touches(loop.body, buffer, Store)
    box = box_of(touched, ranges) if touched else ()
    part = Points(block, tuple(inner), ranges)
    full = all(part.alike(axes[at].extent, dim) for at, dim in zip(own, buffer.shape, strict=True))
    fills = bool(box) and whole.predicate_is_implied() and _fills(part, own, box)
    if not (full and whole.covers_all_points() and fills):
        raise ScheduleError(
            f"{first} cannot be proved to compute all of {buffer.name!r}, box by box", at=block
        )
    return _Producer(block, buffer, box)


def _fills(part: Points, own: list[Var], box: Box) -> bool:
    """Return True if the inner loops reach every point of the box inside the axes."""
    reach = dict(zip(own, box, strict=True))
    axes: list[Axis] = []
    for axis in part.block.axes:
        span = reach.get(axis.var)
        if axis.kind != "spatial":
            continue
        if span is None:
            return False
        extent = part.plain(span.high - span.low + 1)
        axes.append(axis.replace(extent=extent, binding=part.plain(axis.binding - span.low)))
    held = part.block.replace(axes=tuple(axes), predicate=None)
    return Points(held, part.loops, part.ranges).covers_all_points()


def _spans(
    func: PrimFunc, consumer: Block, loop: For, producers: list[_Producer], what: str
) -> dict[Var, SymbolicInterval]:
    """Return the intervals of the consumer's axes for one iteration of the loop: the points that
    read its boxes."""
    ranges = ranges_at(func)
    facts = facts_of(loops_to(func, loop))
    every: list[dict[Var, SymbolicInterval]] = []
    for producer in producers:
        reads = touches(consumer.body, producer.buffer, Load)
        if reads is None:
            raise ScheduleError(
                f"cannot {what}: it reads {producer.buffer.name!r} through a view", at=consumer
            )
        for read in reads:
            if read.loops:
                raise ScheduleError(
                    f"cannot {what}: it reads {producer.buffer.name!r} in loops of its own",
                    at=consumer,
                )
            every.append(_axes_that_read(consumer, read.indices, producer, ranges, facts, what))
    found: dict[Var, SymbolicInterval] = {}
    for spans in every:
        for var, reach in spans.items():
            if not found.setdefault(var, reach).is_same(reach):
                raise ScheduleError(
                    f"cannot {what}: axis {var.name!r} reads several elements that "
                    "different iterations of the loop compute",
                    at=consumer,
                )
    # One read must determine all axes: two reads that determine one each can disagree.
    if found and not any(set(spans) == set(found) for spans in every):
        raise ScheduleError(
            f"cannot {what}: none of its reads determines all of its axes", at=consumer
        )
    return found


def _axes_that_read(
    consumer: Block,
    indices: tuple[Expr, ...],
    producer: _Producer,
    ranges: _Ranges,
    facts: list[Expr],
    what: str,
) -> dict[Var, SymbolicInterval]:
    own = {axis.var: axis for axis in consumer.axes}
    inside = inside_extents(consumer, ranges)
    extents = [lt(axis.var, axis.extent) for axis in consumer.axes]
    found: dict[Var, SymbolicInterval] = {}
    for index, reach, dim in zip(indices, producer.box, producer.buffer.shape, strict=True):
        assert reach is not None
        least = rounded_up(dim)
        within = prove(ge(index, 0), inside, extents) and (
            prove(lt(index, dim), inside, extents)
            or (least is not None and prove(lt(index, least), inside, extents))
        )
        if prove(le(reach.low, 0), ranges, facts) and prove(ge(reach.high, dim - 1), ranges, facts):
            if not (within or prove(ge(dim, 1), ranges)):
                raise ScheduleError(
                    f"cannot {what}: {producer.buffer.name!r} can be empty, and then the block "
                    "would not run",
                    at=consumer,
                )
            continue
        pair = None if any_node(index, FloorDiv) else inverse_interval(index, reach)
        axis = own.get(pair[0]) if pair is not None else None
        if pair is None or axis is None or axis.kind != "spatial":
            raise ScheduleError(
                f"cannot {what}: it does not read {producer.buffer.name!r} at an axis of its own, "
                "one for one or a multiple",
                at=consumer,
            )
        if not within:
            raise ScheduleError(
                f"cannot {what}: it may read outside {producer.buffer.name!r}, which the loop "
                "does not compute",
                at=consumer,
            )
        solved = SymbolicInterval(simplify(pair[1].low, ranges), simplify(pair[1].high, ranges))
        if not found.setdefault(axis.var, solved).is_same(solved):
            raise ScheduleError(
                f"cannot {what}: axis {axis.var.name!r} is used in two indices of one read",
                at=consumer,
            )
    return found


def _lifted(func: PrimFunc, name: str, written: list[Buffer]) -> PrimFunc:
    """Move allocations outwards for buffers that a block now writes before they are allocated."""
    for buffer in written:
        home = allocation(func, buffer)
        if home is None or home in path_to(func, find_block(func, name)):
            continue
        if any(variables(dim) - _outer(func) for dim in buffer.shape):
            continue
        func = without_allocation(func, buffer)
        func = func.replace(body=Allocate(buffer, func.body, home.attrs, span=home.span))
    return func


def _outer(func: PrimFunc) -> set[Var]:
    found: set[Var] = set()
    for param in func.params:
        if isinstance(param, Buffer):
            found.update(var for dim in param.shape for var in variables(dim))
        else:
            found.add(param)
    return found
