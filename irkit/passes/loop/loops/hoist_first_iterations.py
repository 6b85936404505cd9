"""Move a statement that runs only at the start of the first iteration in front of the loop.

Before::

    def f(A: f32[4, 8], C: f32[4]):
        for i in serial(0, 4):
            for k in serial(0, 8):
                if k == 0:
                    C[i] = f32(0.0)
                C[i] = C[i] + A[i, k]

After::

    def f(A: f32[4, 8], C: f32[4]):
        for i in serial(0, 4):
            C[i] = f32(0.0)
            for k in serial(0, 8):
                C[i] = C[i] + A[i, k]

This takes the init of a reduction, with its condition, out of the innermost loop. If several loops
reduce, the condition moves out one loop at a time.
"""

from irkit.core import Node, any_node, rewrite, substitute, walk
from irkit.ir import (
    EQ,
    Const,
    Expr,
    For,
    If,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    conjuncts,
    is_const,
    logical_and,
    lt,
    no_blocks,
    seq,
    trip_count,
)
from irkit.ir.arith import IndexSums, Sum, loop_ranges
from irkit.transform import define_pass


@define_pass(idempotent=True, needs=(no_blocks,))
def hoist_first_iterations(func: PrimFunc) -> PrimFunc:
    """Move the conditional statement at the start of a serial loop in front of the loop, if the
    condition can hold in the first iteration only."""
    sums = IndexSums(loop_ranges(func))

    def hoist(loop: For) -> Stmt | None:
        stmts = loop.body.stmts if isinstance(loop.body, Seq) else (loop.body,)
        head = stmts[0] if stmts else None
        if loop.kind not in ("serial", "unrolled") or not isinstance(head, If):
            return None
        if head.otherwise is not None or any_node(loop.begin, Load) or any_node(loop.end, Load):
            return None
        conds = conjuncts(head.cond)
        if not any(_is_first(cond, loop, sums) for cond in conds):
            return None
        first: dict[Node, Node] = {loop.var: loop.begin}
        left = [_decided(substitute(cond, first), sums) for cond in conds]
        cond = logical_and(*_runs(loop), *left)
        then = substitute(head.then, first)
        start = then if is_const(cond, 1) else If(cond, then, None, span=head.span)
        return seq(start, loop.replace(body=seq(*stmts[1:])))

    return rewrite(func, hoist, on=For)


def _runs(loop: For) -> list[Expr]:
    return [] if trip_count(loop) else [lt(loop.begin, loop.end)]


def _is_first(cond: Expr, loop: For, sums: IndexSums) -> bool:
    """Return True if a condition implies that the loop is in its first iteration.

    An equation does if the difference of its sides only moves away from 0 afterwards.
    """
    if not isinstance(cond, EQ) or not cond.a.dtype.is_integer:
        return False
    form = sums.sum_of(cond.a) - sums.sum_of(cond.b)
    (var,) = sums.sum_of(loop.var).terms
    factor = form.terms.get(var, 0)
    at_begin = form - Sum({var: factor}) + sums.sum_of(loop.begin).scaled(factor)
    if any(any_node(sums.atom(atom), Load) for atom in form.terms):
        return False
    if any(atom != var and loop.var in walk(sums.atom(atom)) for atom in form.terms):
        return False
    low, high = at_begin.exact(sums.spans)
    return (factor > 0 and low >= 0) or (factor < 0 and high <= 0)


def _decided(cond: Expr, sums: IndexSums) -> Expr:
    if isinstance(cond, EQ) and cond.a.dtype.is_integer:
        form = sums.sum_of(cond.a) - sums.sum_of(cond.b)
        if not form.terms:
            return Const(form.constant == 0, cond.dtype)
    return cond
