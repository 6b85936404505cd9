"""The primitive reorder: permute the loops of one nest."""

from collections.abc import Sequence
from itertools import pairwise

from irkit.core import ScheduleError
from irkit.ir import Axis, For, PrimFunc, Var, dependences, nested, replace_stmts
from irkit.ir.analysis import accumulates
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.checks.launch import check_launches
from irkit.schedule.state.lookup import blocks_below, find_loop, path_to


def reorder(func: PrimFunc, order: Sequence[Var]) -> PrimFunc:
    """Permute loops of one nest into the given order; other loops between them stay in place.

    Raises: ScheduleError if they are not in one perfect nest, a bound depends on a loop that would
    be further inside, iterations of a moved loop may depend on each other, or thread loops would
    contain block loops of a launch.
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
    made = nested(shuffled, chain[-1].body)
    func = replace_stmts(func, {chain[0]: made})
    check_launches(func, made, "reorder")
    return func


def _chain(func: PrimFunc, loops: Sequence[For]) -> list[For]:
    """List the perfectly nested loops from the outermost to the innermost of the given ones."""
    deepest = max((path_to(func, loop) for loop in loops), key=len)
    around = [stmt for stmt in deepest if isinstance(stmt, For)]
    missing = [loop.var.name for loop in loops if loop not in around]
    if missing:
        raise ScheduleError(f"cannot reorder: {missing[0]!r} is not in one nest with the others")
    chain = around[min((around.index(loop) for loop in loops), default=0) :]
    for outer, inner in pairwise(chain):
        if outer.body is not inner:
            raise ScheduleError(
                f"cannot reorder: {outer.var.name!r} contains more than the loop "
                f"{inner.var.name!r}",
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
    """Check that the iterations of a loop can be reordered; the steps of one reduction can."""
    blocks = blocks_below(loop.body)
    kinds = {axis.kind for block in blocks for axis in block.axes if _moves(loop, axis)}
    reason = ""
    if "opaque" in kinds:
        reason = "an opaque axis uses it, so the order may matter"
    elif not (len(blocks) == 1 and kinds == {"reduce"}):
        reason = dependences(func).carried(loop) or ""
    if reason:
        raise ScheduleError(f"cannot reorder {loop.var.name!r}: {reason}", at=loop)


def _check_steps(func: PrimFunc, chain: Sequence[For], shuffled: Sequence[For]) -> None:
    """Check that the steps of reductions are reordered only where the result does not depend on
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
                f"cannot reorder the reduction loops of block {block.name!r}: its steps cannot be "
                "taken in any order, as those of a sum can",
                at=block,
            )


def _moves(loop: For, axis: Axis) -> bool:
    return loop.var in variables(axis.binding)
