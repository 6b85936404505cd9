"""Primitives on loops: split, fuse, reorder, and the marks parallel, vectorized, unrolled."""

from collections.abc import Sequence
from itertools import pairwise

from irkit.core import ScheduleError, Span, substitute
from irkit.ir import (
    Block,
    Expr,
    For,
    If,
    LoopKind,
    PrimFunc,
    Stmt,
    Var,
    as_int,
    const,
    index,
    is_const,
    logical_and,
    lt,
    product,
)
from irkit.schedule.state import blocks_below, exchange, find_loop, path_to, variables

Factor = int | Expr | None


def split(func: PrimFunc, var: Var, factors: Sequence[Factor]) -> tuple[PrimFunc, list[Var]]:
    """Replace a loop by a nest of loops, outermost factor first; at most one factor is None and is
    found.

    Where the factors do not divide the extent, the blocks inside get a predicate.
    Raises: ScheduleError if the loop is marked, does not start at 0, or the factors do not cover
    it.
    """
    loop = _plain(func, var, "split")
    extents = _extents(loop, factors)
    inner = [Var(f"{var.name}_{at}", var.dtype) for at in range(len(extents))]
    value: Expr = inner[0]
    for part, extent in zip(inner[1:], extents[1:], strict=True):
        value = value * extent + part
    body = substitute(loop.body, {var: value})
    total, wanted = as_int(product(extents)), as_int(loop.end)
    if total is None or total != wanted:
        if total is not None and wanted is not None and total < wanted:
            raise ScheduleError(
                f"cannot split {var.name!r} into {total} iterations: its extent is {wanted}",
                hint="Leave one factor as None to have it found.",
                span=loop.span,
            )
        body = _guard(body, lt(value, loop.end))
    span = Span("schedule", "split", parent=loop.span)
    made: Stmt = body
    for at in range(len(inner) - 1, -1, -1):
        made = For(inner[at], const(0, var.dtype), extents[at], made, span=span)
    return exchange(func, {loop: made}), inner


def _extents(loop: For, factors: Sequence[Factor]) -> list[Expr]:
    if sum(factor is None for factor in factors) > 1:
        raise ScheduleError("split takes at most one factor that is None", span=loop.span)
    for factor in factors:
        number = None if factor is None else as_int(factor)
        if number is not None and number < 1:
            raise ScheduleError(f"split factors must be positive, found {number}", span=loop.span)
    known = product([factor for factor in factors if factor is not None])
    number, extent = as_int(known), as_int(loop.end)
    if number is not None and extent is not None:
        rest: Expr = const(-(-extent // number), loop.var.dtype)
    elif is_const(known, 1):
        rest = loop.end
    else:
        rest = (loop.end + known - 1) // known
    return [rest if factor is None else index(factor) for factor in factors]


def _guard(body: Stmt, condition: Expr) -> Stmt:
    """Add a condition to the outermost blocks inside, or an ``if`` where there are none."""
    blocks = blocks_below(body)
    if not blocks:
        return If(condition, body)
    changes: dict[Stmt, Stmt] = {
        block: block.replace(
            predicate=condition
            if block.predicate is None
            else logical_and(block.predicate, condition)
        )
        for block in blocks
    }
    holder = PrimFunc("guard", (), body)
    return exchange(holder, changes).body


def fuse(func: PrimFunc, loops: Sequence[Var]) -> tuple[PrimFunc, Var]:
    """Replace perfectly nested loops, given outermost first, by one over their product.

    Raises: ScheduleError if they are marked, do not start at 0, or are not nested directly in each
    other.
    """
    found = [_plain(func, var, "fuse") for var in loops]
    for outer, inner in pairwise(found):
        if outer.body is not inner:
            raise ScheduleError(
                f"cannot fuse {outer.var.name!r} and {inner.var.name!r}: "
                "the second is not the only statement of the first",
                span=outer.span,
            )
        if outer.var in variables(inner.end):
            raise ScheduleError(
                f"cannot fuse: the extent of {inner.var.name!r} depends on {outer.var.name!r}",
                span=inner.span,
            )
    fused = Var("_".join(var.name for var in loops), loops[0].dtype)
    mapping: dict[Var, Expr] = {}
    rest: Expr = fused
    for at in range(len(found) - 1, 0, -1):
        mapping[found[at].var] = rest % found[at].end
        rest = rest // found[at].end
    mapping[found[0].var] = rest
    body = substitute(found[-1].body, mapping)
    span = Span("schedule", "fuse", parent=found[0].span)
    made = For(fused, found[0].begin, product(loop.end for loop in found), body, span=span)
    return exchange(func, {found[0]: made}), fused


def reorder(func: PrimFunc, order: Sequence[Var]) -> PrimFunc:
    """Permute loops of one chain into the given order; loops between them that are not named stay
    where they are.

    Raises: ScheduleError if they are not in one chain without branches, a bound depends on a loop
    that would then be
    inside, or a block below has a binding that is not its own axis kind.
    """
    if len(set(order)) != len(order):
        raise ScheduleError("reorder was given a loop twice")
    found = {var: find_loop(func, var) for var in order}
    deepest = max((path_to(func, loop) for loop in found.values()), key=len)
    chain = [stmt for stmt in deepest if isinstance(stmt, For)]
    start = min((chain.index(loop) for loop in found.values() if loop in chain), default=0)
    chain = chain[start:]
    missing = [loop.var.name for loop in found.values() if loop not in chain]
    if missing:
        raise ScheduleError(f"cannot reorder: {missing[0]!r} is not in one nest with the others")
    for outer, inner in pairwise(chain):
        if outer.body is not inner:
            raise ScheduleError(
                f"cannot reorder: {outer.var.name!r} holds more than the loop {inner.var.name!r}",
                span=outer.span,
            )
    wanted = iter(order)
    shuffled = [found[next(wanted)] if loop.var in found else loop for loop in chain]
    seen: set[Var] = {loop.var for loop in chain}
    for loop in shuffled:
        late = (variables(loop.begin) | variables(loop.end)) & seen
        if late:
            name = next(iter(late)).name
            raise ScheduleError(
                f"cannot reorder: the bounds of {loop.var.name!r} depend on {name!r}, "
                "which would be inside it",
                span=loop.span,
            )
        seen.discard(loop.var)
    for block in blocks_below(chain[-1].body):
        _check_order_free(block, chain)
    made: Stmt = chain[-1].body
    for loop in reversed(shuffled):
        made = loop.replace(body=made)
    return exchange(func, {chain[0]: made})


def _check_order_free(block: Block, chain: Sequence[For]) -> None:
    moved = {loop.var for loop in chain}
    for axis in block.axes:
        if axis.kind == "opaque" and variables(axis.binding) & moved:
            raise ScheduleError(
                f"cannot reorder: axis {axis.var.name!r} of block {block.name!r} is opaque, "
                "so its order may matter",
                span=block.span,
            )


def mark(func: PrimFunc, var: Var, kind: LoopKind) -> PrimFunc:
    """Mark a loop parallel, vectorized or unrolled (or serial again).

    Raises: ScheduleError where the iterations of a parallel or vectorized loop are not independent:
    the loop takes part
    in a reduction, or does not stand in the bindings of a block alone.
    """
    loop = find_loop(func, var)
    if kind in ("parallel", "vectorized"):
        for block in blocks_below(loop.body):
            for axis in block.axes:
                if axis.kind != "spatial" and var in variables(axis.binding):
                    raise ScheduleError(
                        f"cannot make {var.name!r} {kind}: it takes part in the {axis.kind} axis "
                        f"{axis.var.name!r} of block {block.name!r}, so its iterations depend on "
                        "each other",
                        hint="Use rfactor to split the reduction first.",
                        span=loop.span,
                    )
            if not any(var in variables(axis.binding) for axis in block.axes):
                raise ScheduleError(
                    f"cannot make {var.name!r} {kind}: every iteration would run block "
                    f"{block.name!r} on the same elements",
                    span=loop.span,
                )
    return exchange(func, {loop: loop.replace(kind=kind)})


def _plain(func: PrimFunc, var: Var, primitive: str) -> For:
    loop = find_loop(func, var)
    if loop.kind != "serial" or loop.attrs:
        raise ScheduleError(
            f"cannot {primitive} {var.name!r}: it is marked {loop.kind}",
            hint=f"{primitive.capitalize()} first, mark afterwards.",
            span=loop.span,
        )
    if not is_const(loop.begin, 0):
        raise ScheduleError(
            f"cannot {primitive} {var.name!r}: it does not start at 0", span=loop.span
        )
    return loop
