"""Turn the init of a block into a statement that runs in the first step of the reduction.

Before::

    def f(A: f32[4, 8], C: f32[4]):
        for i in serial(0, 4):
            for k in serial(0, 8):
                with block("C"):
                    vi = axis.spatial(4, i)
                    vk = axis.reduce(8, k)
                    with init():
                        C[vi] = f32(0.0)
                    C[vi] = C[vi] + A[vi, vk]

After::

    def f(A: f32[4, 8], C: f32[4]):
        for i in serial(0, 4):
            for k in serial(0, 8):
                with block("C"):
                    vi = axis.spatial(4, i)
                    vk = axis.reduce(8, k)
                    if vk == 0:
                        C[vi] = f32(0.0)
                    C[vi] = C[vi] + A[vi, vk]
"""

from irkit.core import rewrite
from irkit.ir import Block, If, PrimFunc, Stmt, eq, logical_and, no_init_blocks, seq
from irkit.transform import define_pass


@define_pass(idempotent=True, gives=(no_init_blocks,))
def lower_init_blocks(func: PrimFunc) -> PrimFunc:
    """Put the init of every block in front of its body, under the condition that all reduce axes
    are 0."""

    def lower(block: Block) -> Stmt | None:
        if block.init is None:
            return None
        first = [eq(axis.var, 0) for axis in block.axes if axis.kind == "reduce"]
        span = block.init.span
        start = If(logical_and(*first), block.init, None, span=span) if first else block.init
        return block.replace(init=None, body=seq(start, block.body))

    return rewrite(func, lower, on=Block)
