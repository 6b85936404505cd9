"""Run thread loops on the CPU: blocks in parallel, the threads of a block one after the other
from barrier to barrier.

Before::

    def f(A: f32[4, 8], C: f32[4, 8]):
        for b in thread(0, 4, "blockIdx.x"):
            S = alloc(f32[8], scope="shared")
            for t in thread(0, 8, "threadIdx.x"):
                x: f32 = A[b, t]
                S[t] = x
                evaluate(barrier())
                C[b, t] = x + S[7 - t]

After::

    def f(A: f32[4, 8], C: f32[4, 8]):
        for b in parallel(0, 4):
            S = alloc(f32[8], scope="shared")
            x_all = alloc(f32[8], scope="local")
            for t in serial(0, 8):
                x_all[t] = A[b, t]
            for t_1 in serial(0, 8):
                x: f32 = x_all[t_1]
                S[t_1] = x
            for t_2 in serial(0, 8):
                x_1: f32 = x_all[t_2]
                C[b, t_2] = x_1 + S[7 - t_2]

A loop or condition around a barrier goes around the thread loops, so it must be the same in all
threads. Blocks that can access the same element run one after the other.
"""

from irkit.core import remark, rewrite, walk
from irkit.ir import Evaluate, For, PrimFunc, Stmt, no_thread_loops, seq
from irkit.ir.analysis import dependences
from irkit.ir.threads import is_barrier, is_block_loop, split_threads
from irkit.transform import define_pass


@define_pass(idempotent=True, gives=(no_thread_loops,), atomic=True)
def lower_thread_loops(func: PrimFunc) -> PrimFunc:
    """Split nests of threads at their barriers, and make every thread loop serial or parallel."""
    split = split_threads(func)
    blocks = {loop.var for loop in walk(split.body, For) if is_block_loop(loop)}
    plain = rewrite(split, _plain, on=(For, Evaluate))
    if not blocks:
        return plain
    carried = dependences(plain)
    apart = set(blocks)
    for loop in walk(plain.body, For):
        reason = carried.carried(loop) if loop.var in blocks else None
        if reason is not None:
            remark(loop, f"blocks run one after the other: {reason}")
            apart.discard(loop.var)

    def launch(loop: For) -> For | None:
        return loop.replace(kind="parallel") if loop.var in apart else None

    return rewrite(plain, launch, on=For)


def _plain(stmt: For | Evaluate) -> Stmt | None:
    if isinstance(stmt, For):
        return stmt.replace(kind="serial", thread="") if stmt.kind == "thread" else None
    return seq() if is_barrier(stmt) else None
