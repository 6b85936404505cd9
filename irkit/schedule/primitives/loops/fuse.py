"""The primitive fuse: fuse nested loops into one over their product."""

from collections.abc import Sequence
from itertools import pairwise

from irkit.core import ScheduleError, Span, substitute
from irkit.ir import Expr, For, PrimFunc, Var, product, replace_stmts
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.sizes import trips
from irkit.schedule.checks.plain_loop import find_plain_loop


def fuse(func: PrimFunc, loops: Sequence[Var]) -> tuple[PrimFunc, Var]:
    """Fuse perfectly nested loops, given outermost first, into one over their product.

    A loop whose end may be negative counts as empty: ``max(end, 0)`` is a factor then.
    Raises: ScheduleError if they are marked, do not start at 0, or are not perfectly nested.
    """
    if not loops:
        raise ScheduleError("fuse was given no loops")
    found = [find_plain_loop(func, var, "fuse") for var in loops]
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
    counts = trips(func, found)
    fused = Var("_".join(var.name for var in loops), loops[0].dtype)
    mapping: dict[Var, Expr] = {}
    rest: Expr = fused
    for at in range(len(found) - 1, 0, -1):
        mapping[found[at].var] = rest % counts[at]
        rest = rest // counts[at]
    mapping[found[0].var] = rest
    body = substitute(found[-1].body, mapping)
    span = Span("schedule", "fuse", parent=found[0].span)
    made = For(fused, found[0].begin, product(counts), body, span=span)
    return replace_stmts(func, {found[0]: made}), fused
