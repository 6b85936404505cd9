"""The primitive rfactor: split a reduction into partial results and a final reduction."""

from collections.abc import Sequence

import msgspec

from irkit.core import Node, ScheduleError, Span, substitute, walk
from irkit.ir import (
    Allocate,
    Axis,
    Block,
    Buffer,
    Expr,
    For,
    If,
    PrimFunc,
    Stmt,
    Var,
    const,
    is_const,
    logical_and,
    nested,
    prove,
    replace_stmts,
    seq,
)
from irkit.ir.analysis import same_place
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.combination import Combination, combination_of
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.analysis.guards import guards_by_loops, joined, reduced_over
from irkit.schedule.analysis.ranges import facts_of, ranges_at
from irkit.schedule.analysis.reduction_steps import unless_empty
from irkit.schedule.analysis.sizes import dims_at
from irkit.schedule.checks.reduced_loops import check_unmixed
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import nest_like
from irkit.schedule.state.lookup import blocks_below, find_loop, nest_of, path_to


def rfactor(func: PrimFunc, var: Var, factor_axis: int = 0) -> tuple[PrimFunc, str]:
    """Factor a reduction loop into partial results, one per iteration, and a final reduction.

    The partial results go to a new buffer with an additional dimension at ``factor_axis``. The
    block that computes them is named ``NAME_rf`` and keeps the loops, where ``var`` is now spatial.
    Sums and products of floats are evaluated in another order. A reduction of several values needs
    the attribute ``reassoc`` of its block, which te writes.
    Raises: ScheduleError if the block under the loop is not an associative and commutative
    reduction, or shares its reduction loops with other statements.
    """
    loop = find_loop(func, var)
    what = f"factor the reduction over {var.name!r}"
    block, combine = _reduction(func, loop, what)
    parts = _parts(func, block, loop, what)
    rank = combine.rank
    if not -rank - 1 <= factor_axis <= rank:
        raise ScheduleError(
            f"cannot {what}: factor_axis must be 0 to {rank}, as {combine.stores[0].buffer.name!r} "
            f"has {rank} "
            f"dimensions; found {factor_axis}",
            at=block,
        )
    place = factor_axis if factor_axis >= 0 else factor_axis + rank + 1
    span = Span("schedule", "rfactor", parent=block.span)
    top = parts.chain[0]
    (size,) = dims_at(func, top, [loop.end])
    partial = tuple(_partial_buffer(each.buffer, size, place) for each in combine.stores)
    inner = _partial_block(func, block, combine, parts, partial, place, span)
    first = nested(parts.chain, inner)
    some = unless_empty(func, inner)
    made = seq(first, _final_nest(block, combine, parts, partial, place, some, span))
    for buffer in reversed(partial):
        made = Allocate(buffer, made, span=span)
    return replace_stmts(func, {top: made}), inner.name


def _partial_buffer(old: Buffer, extent: Expr, place: int) -> Buffer:
    shape = (*old.shape[:place], extent, *old.shape[place:])
    return old.replace(name=f"{old.name}_rf", shape=shape, strides=None)


class _ReductionLoops(msgspec.Struct, frozen=True):
    """The loops of a reduction: the perfect nest, the loop to factor, and the variables reduced
    over."""

    chain: tuple[For, ...]
    loop: For
    reducing: frozenset[Var]


def _reduction(func: PrimFunc, loop: For, what: str) -> tuple[Block, Combination]:
    blocks = blocks_below(loop)
    if len(blocks) != 1:
        raise ScheduleError(f"cannot {what}: it contains {len(blocks)} blocks, not one", at=loop)
    block = blocks[0]
    found = combination_of(func, block)
    if found is None or block.init is None:
        raise ScheduleError(
            f"cannot {what}: block {block.name!r} is not a sum, product, min, max, and, or "
            "of one element with an init, nor a reduction of several values that te made",
            at=block,
        )
    begun = found.begun
    if begun is None or not all(same_place(a, b) for a, b in zip(begun, found.stores, strict=True)):
        raise ScheduleError(
            f"cannot {what}: the init of {block.name!r} initialises something else", at=block
        )
    return block, found


def _parts(func: PrimFunc, block: Block, loop: For, what: str) -> _ReductionLoops:
    reducing = reduced_over(block)
    path = path_to(func, block)
    chain = [stmt for stmt in path[path.index(nest_of(func, block)) :] if isinstance(stmt, For)]
    reason = ""
    if any(axis.kind == "opaque" for axis in block.axes):
        reason = "its block has an opaque axis"
    elif loop.var not in reducing:
        reason = f"block {block.name!r} does not reduce over it"
    elif loop.kind != "serial" or not is_const(loop.begin, 0):
        reason = "it is marked or does not start at 0"
    elif any(stmt.var in reducing and stmt not in chain for stmt in path if isinstance(stmt, For)):
        reason = "a reduction loop contains other statements too"
    elif any(
        (variables(stmt.begin) | variables(stmt.end)) & {each.var for each in chain}
        for stmt in chain
    ):
        reason = "the bounds of its loops depend on each other"
    elif (used := _used_directly(block, {stmt.var for stmt in chain})) is not None:
        reason = f"block {block.name!r} uses loop {used.name!r} other than through its axes"
    elif not points_of(func, block).reduces_completely():
        reason = "it cannot be proved that the loops cover the reduce axes exactly once"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=loop)
    check_unmixed(func, block, reducing, what, chain)
    return _ReductionLoops(tuple(chain), loop, frozenset(reducing))


def _used_directly(block: Block, loops: set[Var]) -> Var | None:
    found = [
        var
        for stmt in (block.init, block.body)
        if stmt is not None
        for var in walk(stmt, on=Var)
        if var in loops
    ]
    return found[0] if found else None


def _partial_block(
    func: PrimFunc,
    block: Block,
    combine: Combination,
    parts: _ReductionLoops,
    partial: tuple[Buffer, ...],
    place: int,
    span: Span,
) -> Block:
    """Return the block that computes the partial results."""
    guards = guards_by_loops(block)
    late = [part for part in guards if not _holds_at_first(func, part, parts)]
    axes, values, own = _new_axes(block, parts, late)
    at = tuple(substitute(index, values) for index in combine.stores[0].indices)
    at = (*at[:place], own, *at[place:])
    gathered = tuple(substitute(each, values) for each in combine.gathered)
    update = combine.update(partial, at, gathered)
    tests = [] if combine.cond is None else [substitute(combine.cond, values)]
    loops_to_axes: dict[Node, Node] = {
        axis.binding: axis.var for axis in axes if isinstance(axis.binding, Var)
    }
    tests = [substitute(part, loops_to_axes) for part in late] + tests
    if tests:
        update = If(logical_and(*tests), update)
    kept = [part for part in guards if part not in late]
    return Block(
        new_name(func, f"{block.name}_rf"),
        axes,
        update,
        combine.start(partial, at, span),
        joined(kept),
        attrs=block.attrs,
        span=span,
    )


def _holds_at_first(func: PrimFunc, part: Expr, parts: _ReductionLoops) -> bool:
    """Return True if a guard can stay on the block: it does not depend on a reduction, or on a
    reduction only and holds where each partial result is initialised."""
    others = {
        loop.var: const(0, loop.var.dtype)
        for loop in parts.chain
        if loop.var in parts.reducing and loop is not parts.loop
    }
    if not variables(part) & parts.reducing:
        return True
    if variables(part) - set(others):
        return False
    first = substitute(part, others)
    return prove(first, ranges_at(func), facts_of(parts.chain))


def _new_axes(
    block: Block, parts: _ReductionLoops, late: Sequence[Expr]
) -> tuple[tuple[Axis, ...], dict[Node, Node], Var]:
    """Return the axes of the partial block: loops that share an axis with the factored one get
    separate axes, and so do the loops that ``late`` guards restrict, as the block now runs where
    they fail."""
    together = {parts.loop.var}.union(*(variables(part) & parts.reducing for part in late))
    reduce_axes = [axis for axis in block.axes if axis.kind == "reduce"]
    while True:
        more = together.union(*(v for a in reduce_axes if (v := variables(a.binding)) & together))
        if more == together:
            break
        together = more
    axes: list[Axis] = []
    values: dict[Node, Node] = {}
    for axis in block.axes:
        if axis.kind == "reduce" and variables(axis.binding) & together:
            continue
        copy = axis.var.copy()
        values[axis.var] = copy
        axes.append(axis.replace(var=copy))
    counters: dict[Node, Node] = {}
    for loop in parts.chain:
        if loop.var in together:
            mine = Var(f"v{loop.var.name}", loop.var.dtype)
            counters[loop.var] = mine
            kind = "spatial" if loop is parts.loop else "reduce"
            axes.append(Axis(mine, loop.end, loop.var, kind))
    for axis in reduce_axes:
        if axis.var not in values:
            values[axis.var] = substitute(axis.binding, counters)
    own = counters[parts.loop.var]
    assert isinstance(own, Var)
    return tuple(axes), values, own


def _final_nest(
    block: Block,
    combine: Combination,
    parts: _ReductionLoops,
    partial: tuple[Buffer, ...],
    place: int,
    some: Sequence[Expr],
    span: Span,
) -> Stmt:
    """Return the nest that reduces the partial results, if there are ``some``."""
    kept = [loop for loop in parts.chain if loop is parts.loop or loop.var not in parts.reducing]
    names = {loop.var: loop.var.copy() for loop in kept}
    own = Var(f"v{parts.loop.var.name}", parts.loop.var.dtype)
    axes = [
        axis.replace(binding=substitute(axis.binding, names))
        for axis in block.axes
        if axis.kind == "spatial"
    ]
    axes.append(Axis(own, parts.loop.end, names[parts.loop.var], "reduce"))
    at = combine.stores[0].indices
    given = tuple(buffer[(*at[:place], own, *at[place:])] for buffer in partial)
    targets = tuple(store.buffer for store in combine.stores)
    guards = [g for g in guards_by_loops(block) if not variables(g) & parts.reducing]
    final = Block(
        block.name,
        tuple(axes),
        combine.update(targets, at, given),
        block.init,
        joined([substitute(part, names) for part in (*some, *guards)]),
        attrs=block.attrs,
        span=span,
    )
    return nest_like(kept, names, final, span)
