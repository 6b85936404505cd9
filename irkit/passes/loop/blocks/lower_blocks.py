"""Replace blocks by their bodies: axes become their bindings, predicates become conditions.

Before::

    def f(A: f32[20], C: f32[20]):
        for i in serial(0, 3):
            for j in serial(0, 8):
                with block("C"):
                    v = axis.spatial(20, i * 8 + j)
                    where(i * 8 + j < 20)
                    C[v] = A[v] + f32(1.0)

After::

    def f(A: f32[20], C: f32[20]):
        for i in serial(0, 3):
            for j in serial(0, 8):
                if i * 8 + j < 20:
                    C[i * 8 + j] = A[i * 8 + j] + f32(1.0)

Without blocks no schedule can work on the loops, so the attribute ``unscheduled`` goes with them.
"""

from irkit.core import Node, allowed, deep_recursion, substitute, walk, with_span_of
from irkit.ir import (
    Block,
    If,
    PrimFunc,
    Stmt,
    as_scheduled,
    map_below,
    no_blocks,
    no_init_blocks,
)
from irkit.ir.analysis import axis_values
from irkit.transform import define_pass


@define_pass(idempotent=True, needs=(no_init_blocks,), gives=(no_blocks,))
def lower_blocks(func: PrimFunc) -> PrimFunc:
    """Replace every block by its body, over the loop variables that its axes are bound to."""
    blocks = list(walk(func.body, Block))
    leaving = [allowed("lower", block, block.body) for block in blocks]
    if not any(leaving):
        return func
    gone = {
        axis.var
        for block, leaves in zip(blocks, leaving, strict=True)
        if leaves
        for axis in block.axes
    }
    values: dict[Node, Node] = {
        var: value for var, value in axis_values(func, gone).items() if var in gone
    }
    in_order = iter(leaving)

    def lowered(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Block) or not next(in_order):
            return map_below(stmt, lowered)
        body = lowered(stmt.body)
        if stmt.predicate is None:
            return with_span_of(body, stmt)
        return If(stmt.predicate, body, None, span=stmt.span)

    # All axes at once, so nested blocks do not take quadratic time.
    with deep_recursion:
        return as_scheduled(func.replace(body=lowered(substitute(func.body, values))))
