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

from irkit.core import (
    Node,
    children,
    count_nodes,
    fresh,
    postorder,
    remark,
    rewrite,
    same,
    substitute_each,
    symbols_bound,
)
from irkit.ir import Const, For, PrimFunc, Stmt, no_unrolled_loops, seq
from irkit.passes.loop.support.unroll_marks import UnrollLimits, mark_unrolled
from irkit.transform import define_pass

# Three nested loops of 64 iterations would already be 262,144 copies.
MAX_NODES = 1 << 17


@define_pass(idempotent=True, gives=(no_unrolled_loops,))
def unroll_loops(
    func: PrimFunc,
    *,
    max_extent: int = 64,
    auto_max_step: int = 0,
    auto_max_depth: int = 8,
    auto_max_extent: int = 0,
    explicit: bool = True,
) -> PrimFunc:
    """Unroll every loop marked unrolled that runs at most ``max_extent`` times (iterations); the
    others become serial.

    Inner loops go first, so a nest of n loops of extent k becomes k**n copies of its body. A serial
    loop without another loop left in it counts as marked if its copies have at most
    ``auto_max_step`` stores, or it runs at most ``auto_max_extent`` times, and it contains at most
    ``auto_max_depth`` unrolled loops. Without ``explicit`` nothing is copied here, and the loops
    are left to the code generator. The hints ``auto_unroll_max_step`` and ``unroll_explicit`` set
    these options for a loop and everything in it.
    """
    limits = UnrollLimits(auto_max_step, auto_max_depth, auto_max_extent, explicit)
    given, func = func, mark_unrolled(func, limits)

    def unroll(node: Node) -> Node | None:
        match node:
            case For(var, Const(int() as begin), Const(int() as end), body, "unrolled") if (
                end - begin <= max_extent and _fits(body, end - begin)
            ):
                # Each copy binds its own variables: the verifier allows one binder per Var.
                numbers = (Const(i, var.dtype) for i in range(begin, end))
                copies = substitute_each(body, var, numbers)
                return seq(*(map(fresh, copies) if symbols_bound(body) else copies))
            case For(kind="unrolled"):
                remark(
                    node,
                    f"extent is not a constant of at most {max_extent}, or the copies would be "
                    f"more than {MAX_NODES} nodes: left as a serial loop",
                )
                return node.replace(kind="serial")
            case _:
                return None

    made = rewrite(func, unroll, on=For)
    # Loops that were marked here, but are too long to be unrolled, stay as they were.
    return given if func is not given and same(made, given) else made


def _fits(body: Stmt, copies: int) -> bool:
    if copies * count_nodes(body) > MAX_NODES:
        return False
    # Equal copies share one node, but each is a line of its own.
    lines: dict[int, int] = {}
    for node in postorder(body):
        if isinstance(node, Stmt):
            lines[id(node)] = 1 + sum(lines.get(id(below), 0) for below in children(node))
    return copies * lines[id(body)] <= MAX_NODES
