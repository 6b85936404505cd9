"""Dissolve blocks: axes become what they are bound to, predicates become conditions.

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
"""

from irkit.core import Node, rewrite, substitute
from irkit.ir import Block, If, PrimFunc, Stmt, no_blocks, no_init_blocks
from irkit.passes.loop.axes import axis_values
from irkit.transform import define_pass


@define_pass(needs=(no_init_blocks,), gives=(no_blocks,))
def lower_blocks(func: PrimFunc) -> PrimFunc:
    """Replace every block by its body, over the loop variables that its axes are bound to."""
    values: dict[Node, Node] = dict(axis_values(func).items())

    def lower(block: Block) -> Stmt:
        if block.predicate is None:
            return block.body
        return If(block.predicate, block.body, None, span=block.span)

    # All axes at once, so that blocks within blocks cost no more than others.
    return rewrite(substitute(func, values), lower, on=Block)
