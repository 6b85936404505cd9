"""Barriers between the accesses of different threads."""

from collections.abc import Set

from irkit.core import Span, allowed, deep_recursion, remark
from irkit.ir import Evaluate, PrimFunc, Stmt, Var, map_below, seq
from irkit.ir.threads import (
    BARRIER,
    BarrierFinder,
    ThreadConflicts,
    outermost_nests,
    stands_twice,
)


def with_barriers(func: PrimFunc, *, of: Set[Var] | None = None) -> PrimFunc:
    """Insert a barrier wherever a thread can access an element that another one has accessed since
    the last barrier, and one of the two writes; in all nests, or in those of some outermost
    variables."""
    nests = [nest for nest in outermost_nests(func.body) if of is None or nest.var in of]
    if not nests:
        return func
    conflicts = ThreadConflicts(func)
    before: dict[int, Span | None] = {}

    def insert(stmt: Stmt) -> Stmt:
        made = map_below(stmt, insert)
        if id(stmt) not in before:
            return made
        waiting = seq(Evaluate(BARRIER, span=before[id(stmt)]), made)
        return waiting if allowed("wait", made, waiting) else made

    with deep_recursion:
        for nest in nests:
            if stands_twice(nest):
                why = "a statement is shared between several places: no barriers are inserted"
                remark(nest, why)
                continue
            finder = BarrierFinder(conflicts)
            finder.visit(nest, ())
            before |= finder.before
        return func.replace(body=insert(func.body)) if before else func


@deep_recursion
def meet_inside(func: PrimFunc, within: Stmt) -> bool:
    """Return True if, in a nest inside a statement, threads may meet where no barrier can be."""
    conflicts = ThreadConflicts(func)
    for nest in outermost_nests(within):
        finder = BarrierFinder(conflicts)
        finder.visit(nest, ())
        if finder.meet_inside():
            return True
    return False
