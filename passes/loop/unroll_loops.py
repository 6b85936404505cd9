"""Replace loops marked unrolled by copies of their body.

Before::

    def f(A: f32[8], C: f32[8]):
        for i in unrolled(0, 2):
            C[i] = A[i]

After::

    def f(A: f32[8], C: f32[8]):
        C[0] = A[0]
        C[1] = A[1]
"""

from irkit.core import Node, fresh, remark, rewrite, substitute
from irkit.ir import Const, For, PrimFunc, no_unrolled_loops, seq
from irkit.transform import define_pass


@define_pass(gives=(no_unrolled_loops,))
def unroll_loops(func: PrimFunc, *, max_extent: int = 64) -> PrimFunc:
    """Unroll every loop marked unrolled that runs at most ``max_extent`` times (iterations); the
    others become serial.

    Inner loops go first, so a nest of n loops of extent k becomes k**n copies of its body.
    """

    def unroll(node: Node) -> Node | None:
        match node:
            case For(var, Const(int() as begin), Const(int() as end), body, "unrolled") if (
                end - begin <= max_extent
            ):
                # Each copy binds its own variables: the verifier allows one binder per Var.
                return seq(
                    *(
                        fresh(substitute(body, {var: Const(i, var.dtype)}))
                        for i in range(begin, end)
                    )
                )
            case For(kind="unrolled"):
                remark(
                    node,
                    f"extent is not a constant of at most {max_extent}: left as a serial loop",
                )
                return node.replace(kind="serial")
            case _:
                return None

    return rewrite(func, unroll, on=For)
