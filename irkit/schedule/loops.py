"""Primitives on loops: split, fuse, reorder."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from irkit.core import ScheduleError, Span, substitute
from irkit.ir import (
    Axis,
    Expr,
    For,
    If,
    PrimFunc,
    Stmt,
    Var,
    as_int,
    bounds,
    const,
    dependences,
    index,
    is_const,
    le,
    loop_ranges,
    lt,
    product,
    prove,
)
from irkit.schedule.accumulation import accumulates
from irkit.schedule.launch import check_launches
from irkit.schedule.state import (
    blocks_below,
    exchange,
    exchange_in,
    find_loop,
    guards_of,
    joined,
    nest,
    path_to,
    variables,
)
from irkit.schedule.tails import shifted

Factor = int | Expr | None
Tail = Literal["guard", "shift"]


def split(
    func: PrimFunc, var: Var, factors: Sequence[Factor], tail: Tail = "guard"
) -> tuple[PrimFunc, list[Var]]:
    """Replace a loop by a nest of loops, outermost factor first; at most one factor is None and is
    found.

    Where the factors do not divide the extent, the blocks inside get a predicate; with ``tail``
    "shift", the last chunk begins earlier instead, and computes again what the one before did.
    Raises: ScheduleError if the loop is marked, does not start at 0, the factors do not cover
    it, or a shifted tail would not compute the same again.
    """
    if tail not in ("guard", "shift"):
        raise ScheduleError(f"the tail of a split is 'guard' or 'shift', found {tail!r}")
    loop = plain(func, var, "split")
    extents = _extents(loop, factors)
    inner = [Var(f"{var.name}_{at}", var.dtype) for at in range(len(extents))]
    total, wanted = as_int(product(extents)), as_int(loop.end)
    exact = total is not None and total == wanted
    if not exact:
        _check_cover(func, loop, factors, extents)
    if tail == "shift" and not exact:
        value = shifted(func, loop, inner[0], product(extents[1:])) + _flat(inner[1:], extents[1:])
    else:
        value = _flat(inner, extents)
    body = substitute(loop.body, {var: value})
    if tail == "guard" and not exact:
        body = _guard(body, lt(value, loop.end))
    span = Span("schedule", "split", parent=loop.span)
    made: Stmt = body
    for at in range(len(inner) - 1, -1, -1):
        made = For(inner[at], const(0, var.dtype), extents[at], made, span=span)
    return exchange(func, {loop: made}), inner


def _flat(parts: Sequence[Var], extents: Sequence[Expr]) -> Expr:
    value: Expr = parts[0]
    for part, extent in zip(parts[1:], extents[1:], strict=True):
        value = value * extent + part
    return value


def _check_cover(
    func: PrimFunc, loop: For, factors: Sequence[Factor], extents: Sequence[Expr]
) -> None:
    """Refuse factors whose product may be less than the extent."""
    ranges = loop_ranges(func)
    for factor in factors:
        if factor is not None and as_int(factor) is None:
            low = bounds(index(factor), ranges).low
            if low is None or low < 1:
                raise ScheduleError(
                    f"cannot split {loop.var.name!r} by a factor that may be 0", at=loop
                )
    if None in factors or prove(le(loop.end, product(extents)), ranges):
        return
    total, wanted = as_int(product(extents)), as_int(loop.end)
    raise ScheduleError(
        f"cannot split {loop.var.name!r} into {'fewer' if total is None else total} iterations: "
        f"its extent is {'not shown to be so small' if wanted is None else wanted}",
        hint="Leave one factor as None to have it found.",
        at=loop,
    )


def _extents(loop: For, factors: Sequence[Factor]) -> list[Expr]:
    if sum(factor is None for factor in factors) > 1:
        raise ScheduleError("split takes at most one factor that is None", at=loop)
    for factor in factors:
        number = None if factor is None else as_int(factor)
        if number is not None and number < 1:
            raise ScheduleError(f"split factors must be positive, found {number}", at=loop)
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
        block: block.replace(predicate=joined([*guards_of(block), condition])) for block in blocks
    }
    return exchange_in(body, changes)


def fuse(func: PrimFunc, loops: Sequence[Var]) -> tuple[PrimFunc, Var]:
    """Replace perfectly nested loops, given outermost first, by one over their product.

    Raises: ScheduleError if they are marked, do not start at 0, or are not nested directly in each
    other.
    """
    if not loops:
        raise ScheduleError("fuse was given no loops")
    found = [plain(func, var, "fuse") for var in loops]
    for outer, inner in pairwise(found):
        if outer.body is not inner:
            raise ScheduleError(
                f"cannot fuse {outer.var.name!r} and {inner.var.name!r}: "
                "the second is not the only statement of the first",
                at=outer,
            )
        if outer.var in variables(inner.end):
            raise ScheduleError(
                f"cannot fuse: the extent of {inner.var.name!r} depends on {outer.var.name!r}",
                at=inner,
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
    that would then be inside, iterations of a loop that moves may depend on each other, or threads
    would hold blocks of a launch.
    """
    if len(set(order)) != len(order) or not order:
        raise ScheduleError(f"reorder was given {'a loop twice' if order else 'no loops'}")
    found = {var: find_loop(func, var) for var in order}
    chain = _chain(func, list(found.values()))
    wanted = iter(order)
    shuffled = [found[next(wanted)] if loop.var in found else loop for loop in chain]
    _check_bounds(shuffled)
    moved = [old for old, new in zip(chain, shuffled, strict=True) if old is not new]
    for loop in moved:
        _check_free(func, loop)
    _check_steps(func, chain, shuffled)
    made = nest(shuffled, chain[-1].body)
    func = exchange(func, {chain[0]: made})
    check_launches(func, made, "reorder")
    return func


def _chain(func: PrimFunc, loops: Sequence[For]) -> list[For]:
    """List the loops from the outermost of some to the innermost, each the only thing in the
    last."""
    deepest = max((path_to(func, loop) for loop in loops), key=len)
    around = [stmt for stmt in deepest if isinstance(stmt, For)]
    missing = [loop.var.name for loop in loops if loop not in around]
    if missing:
        raise ScheduleError(f"cannot reorder: {missing[0]!r} is not in one nest with the others")
    chain = around[min((around.index(loop) for loop in loops), default=0) :]
    for outer, inner in pairwise(chain):
        if outer.body is not inner:
            raise ScheduleError(
                f"cannot reorder: {outer.var.name!r} holds more than the loop {inner.var.name!r}",
                at=outer,
            )
    return chain


def _check_bounds(shuffled: Sequence[For]) -> None:
    inside = {loop.var for loop in shuffled}
    for loop in shuffled:
        late = (variables(loop.begin) | variables(loop.end)) & inside
        if late:
            raise ScheduleError(
                f"cannot reorder: the bounds of {loop.var.name!r} depend on "
                f"{next(iter(late)).name!r}, which would be inside it",
                at=loop,
            )
        inside.discard(loop.var)


def _check_free(func: PrimFunc, loop: For) -> None:
    """Refuse to move a loop whose iterations must stay in order; those of one reduction need
    not."""
    blocks = blocks_below(loop.body)
    kinds = {axis.kind for block in blocks for axis in block.axes if _moves(loop, axis)}
    reason = ""
    if "opaque" in kinds:
        reason = "it moves an opaque axis, whose order may matter"
    elif not (len(blocks) == 1 and kinds == {"reduce"}):
        reason = dependences(func).carried(loop) or ""
    if reason:
        raise ScheduleError(f"cannot reorder {loop.var.name!r}: {reason}", at=loop)


def _check_steps(func: PrimFunc, chain: Sequence[For], shuffled: Sequence[For]) -> None:
    """Refuse to take the steps of a reduction in another order where the result may depend on
    it."""
    for block in blocks_below(chain[-1].body):
        reduced = set[Var]().union(
            *(variables(axis.binding) for axis in block.axes if axis.kind == "reduce")
        )
        before, after = (
            [loop.var for loop in loops if loop.var in reduced] for loops in (chain, shuffled)
        )
        if before != after and not accumulates(func, block):
            raise ScheduleError(
                f"cannot reorder the loops that block {block.name!r} reduces over: it is not a sum "
                "or the like, whose steps may be taken in any order",
                at=block,
            )


def _moves(loop: For, axis: Axis) -> bool:
    return loop.var in variables(axis.binding)


def unmarked(func: PrimFunc, var: Var, primitive: str) -> For:
    """Find a loop that is to be rebuilt.

    Raises: ScheduleError if it is not serial, or is annotated: what the mark says of the loop might
    not hold for what it becomes.
    """
    loop = find_loop(func, var)
    if loop.kind != "serial" or loop.attrs:
        marks = [loop.kind] * (loop.kind != "serial") + [key for key, _ in loop.attrs]
        raise ScheduleError(
            f"cannot {primitive} {var.name!r}: it is marked {' and '.join(marks)}",
            hint=f"{primitive.capitalize()} first, mark afterwards.",
            at=loop,
        )
    return loop


def plain(func: PrimFunc, var: Var, primitive: str) -> For:
    """Find a loop that is unmarked and starts at 0; raises ScheduleError if it is not."""
    loop = unmarked(func, var, primitive)
    if not is_const(loop.begin, 0):
        raise ScheduleError(f"cannot {primitive} {var.name!r}: it does not start at 0", at=loop)
    return loop
