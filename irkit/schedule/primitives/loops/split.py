"""The primitive split: split a loop into a nest."""

from collections.abc import Sequence
from typing import Literal

from irkit.core import ScheduleError, Span, substitute
from irkit.ir import (
    Expr,
    For,
    If,
    PrimFunc,
    Stmt,
    Var,
    as_int,
    bounds,
    const,
    index,
    is_const,
    le,
    loop_ranges,
    lt,
    nested,
    product,
    prove,
    replace_stmts,
    seq,
    simplify,
)
from irkit.schedule.analysis.guards import guards_of, joined
from irkit.schedule.checks.plain_loop import find_plain_loop
from irkit.schedule.checks.shifted_tail import shifted
from irkit.schedule.state.lookup import blocks_below

Factor = int | Expr | None
Tail = Literal["guard", "shift"]


def split(
    func: PrimFunc, var: Var, factors: Sequence[Factor], tail: Tail = "guard"
) -> tuple[PrimFunc, list[Var]]:
    """Split a loop into a nest, outermost factor first; at most one factor is None and is computed.

    If the factors do not divide the extent, the blocks inside get a predicate; with ``tail``
    "shift", the last chunk begins earlier instead and overlaps the one before it.
    Raises: ScheduleError if the loop is marked, does not start at 0, the factors do not cover it,
    or a shifted tail might change the result.
    """
    if tail not in ("guard", "shift"):
        raise ScheduleError(f"the tail of a split must be 'guard' or 'shift', found {tail!r}")
    loop = find_plain_loop(func, var, "split")
    extents = _extents(loop, factors)
    inner = [Var(f"{var.name}_{at}", var.dtype) for at in range(len(extents))]
    total, wanted = as_int(product(extents)), as_int(loop.end)
    exact = (total is not None and total == wanted) or _is_multiple(loop, factors)
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
    zero = const(0, var.dtype)
    nest = [For(v, zero, end, seq(), span=span) for v, end in zip(inner, extents, strict=True)]
    return replace_stmts(func, {loop: nested(nest, body)}), inner


def _flat(parts: Sequence[Var], extents: Sequence[Expr]) -> Expr:
    value: Expr = parts[0]
    for part, extent in zip(parts[1:], extents[1:], strict=True):
        value = value * extent + part
    return value


def _check_cover(
    func: PrimFunc, loop: For, factors: Sequence[Factor], extents: Sequence[Expr]
) -> None:
    """Check that the product of the factors is not less than the extent."""
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
        f"its extent is {'cannot be proved to be that small' if wanted is None else wanted}",
        hint="Pass None for one factor to have it computed.",
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
    elif _is_multiple(loop, factors):
        rest = simplify(loop.end // known)
    else:
        rest = (loop.end + known - 1) // known
    return [rest if factor is None else index(factor) for factor in factors]


def _is_multiple(loop: For, factors: Sequence[Factor]) -> bool:
    """Return True if an extent that is not constant is a multiple of the factors that are given."""
    if None not in factors or as_int(loop.end) is not None:
        return False
    known = product([factor for factor in factors if factor is not None])
    return as_int(known) is not None and is_const(simplify(loop.end % known), 0)


def _guard(body: Stmt, condition: Expr) -> Stmt:
    """Add a condition to the outermost blocks inside, or an ``if`` if there are none."""
    blocks = blocks_below(body)
    if not blocks:
        return If(condition, body)
    changes: dict[Stmt, Stmt] = {
        block: block.replace(predicate=joined([*guards_of(block), condition])) for block in blocks
    }
    return replace_stmts(body, changes)
