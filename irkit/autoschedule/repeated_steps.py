"""Reductions that do the same work for many results: no schedule makes them as fast as others.

A tensor expression says of each result how it is computed, from inputs only. So a running sum is a
sum of all elements before each result, and a scatter has each result look for its updates.
"""

from irkit.autoschedule.structure import reduce_axes, spatial_axes
from irkit.core import walk
from irkit.ir import EQ, Block, Compare, Expr, Load, Var, linear
from irkit.schedule import variables

_RUNNING = (
    "each result repeats the steps of the one before: a running total takes a loop that keeps it, "
    "which no tensor expression says"
)
_SCATTERED = (
    "each result looks at every update for those of its place: storing at computed places takes a "
    "loop over the updates, which no tensor expression says"
)


def repeated_steps(block: Block) -> str | None:
    """Return why a reduction has more steps than its result needs; None if that is not known."""
    spatial = {axis.var for axis in spatial_axes(block)}
    reduced = {axis.var for axis in reduce_axes(block)}
    if block.init is None or not reduced:
        return None
    for each in walk(block, on=Compare):
        if each.a.dtype.is_integer and _is_prefix(each, spatial, reduced):
            return _RUNNING
        if isinstance(each, EQ) and any(
            _is_looked_up(one, other, spatial, reduced)
            for one, other in ((each.a, each.b), (each.b, each.a))
        ):
            return _SCATTERED
    return None


def _is_prefix(cond: Compare, spatial: set[Var], reduced: set[Var]) -> bool:
    """Return True for a comparison of a step with a place: ``k <= i``, but not ``i + k < n``."""
    form = linear(cond.a - cond.b)
    if form is None or isinstance(cond, EQ):
        return False
    signs = {var: c for var, c in form.terms if isinstance(var, Var)}
    steps = [c for var, c in signs.items() if var in reduced]
    places = [c for var, c in signs.items() if var in spatial]
    return len(signs) == 2 and len(steps) == len(places) == 1 and steps[0] == -places[0]


def _is_looked_up(one: Expr, other: Expr, spatial: set[Var], reduced: set[Var]) -> bool:
    """Return True if a place is compared with what is read at a step."""
    if not isinstance(other, Load):
        return False
    used = {var for index in other.indices for var in variables(index)}
    return bool(used & reduced) and one in spatial
